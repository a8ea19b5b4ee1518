"""Sensors that say more than one figure: what a heartbeat does, and what it asks."""
