"""`scripts/bench`: measure, and print the figures as one line of JSON."""

import argparse
import json
import sys

from . import noise, quiet, wake
from .errors import BenchError
from .narrator import say
from .running import run

BENCHES = {"wake": wake, "quiet": quiet, "noise": noise}


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Measure the integration in a real Home Assistant. Progress goes "
        "to stderr; the last line of stdout is JSON.",
    )
    benches = parser.add_subparsers(dest="bench", required=True, metavar="BENCH")
    for name, bench in BENCHES.items():
        described = (bench.__doc__ or "").partition(":")[2].strip()
        bench.add_arguments(benches.add_parser(name, description=described))
    return parser.parse_args(arguments)


def main() -> int:
    """Run the command line."""
    options = parse(sys.argv[1:])
    try:
        figures = run(BENCHES[options.bench].measure(options))
    except BenchError as error:
        say(f"Error: {error}")
        return 1
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
