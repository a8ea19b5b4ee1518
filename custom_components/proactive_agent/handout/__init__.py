"""What is handed on to whoever helps, and what of it stays at home."""
