"""What several tests share: scripted stand-ins and small builders."""
