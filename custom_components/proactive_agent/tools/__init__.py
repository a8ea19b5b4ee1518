"""The tools of a run: one kind of tool, or one step of making it, a module."""
