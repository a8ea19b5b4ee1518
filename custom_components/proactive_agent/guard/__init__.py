"""The one door to what Home Assistant can do (A1-A8)."""
