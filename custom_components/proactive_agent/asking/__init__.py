"""What waits for its owner's yes: put, answered, carried out, told (P1-P7)."""
