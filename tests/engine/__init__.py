"""Tests of the engine, which know nothing of Home Assistant."""
