"""A real Home Assistant with a pocket pet in it, and the story it tells."""
