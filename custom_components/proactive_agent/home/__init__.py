"""What may be seen of the home, as entities and as text."""
