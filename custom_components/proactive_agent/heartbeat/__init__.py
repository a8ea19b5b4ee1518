"""One heartbeat: when it wakes, when it stops, and what it is made of."""
