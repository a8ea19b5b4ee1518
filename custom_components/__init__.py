"""Makes the integration importable as Home Assistant imports it."""
