"""What the owner is told: of runs, of faults, and of what is still due (S1-S7)."""
