"""An AI Task entity as what thinks: its own loop, under the rules of a run."""
