"""What can go wrong on the way to a told story."""


class DemoError(Exception):
    """The demo cannot go on; the message is for whoever started it."""
