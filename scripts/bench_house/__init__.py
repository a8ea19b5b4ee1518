"""Measurements of the integration in a real Home Assistant."""
