"""What is said meanwhile."""

import sys


def say(line: str) -> None:
    """Say it beside the output, which is for figures alone."""
    print(line, file=sys.stderr, flush=True)
