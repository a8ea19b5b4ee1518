"""Who may answer a request, and what phones send back (P1, P6)."""
