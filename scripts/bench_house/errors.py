"""What can go wrong on the way to a figure."""


class BenchError(Exception):
    """There is no figure; the message is for whoever asked for it."""
