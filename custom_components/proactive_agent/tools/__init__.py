"""The rooms of the toolbox: one kind of tool, or one step of building it, each."""
