"""The agent itself: standard library only, unaware of Home Assistant and of HTTP."""
