"""The requests for a yes, and when they end by themselves (P1, P5)."""
