"""Thirty days in a home with five heartbeats, in simulated time."""
