"""The one door to the owner (S5, S6)."""
