"""Tests of Proactive Agent."""
