"""One run of the model, and what it is told beforehand (R1, R8, F3)."""
