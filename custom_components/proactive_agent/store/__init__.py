"""What must outlive a restart (C6, D1)."""
