"""Prints the processor seconds that the package takes to import on top of the rest.

Processor time: what else the machine does is not the package's doing.

usage: python -m tests.support.import_time PACKAGE_FOLDER
"""

from collections.abc import Iterator
import importlib
from pathlib import Path
import re
import sys
from time import process_time

# First, because it puts its own libraries in the place of others.
import homeassistant  # noqa: F401

NAME = "custom_components.proactive_agent"
IMPORT = re.compile(r"^(?:from|import) ((?!\.)[\w.]+)", re.MULTILINE)


def foreign_modules(package: Path) -> Iterator[str]:
    """Name what the package imports and is there without it."""
    for path in package.rglob("*.py"):
        for name in IMPORT.findall(path.read_text(encoding="utf-8")):
            if not name.startswith("custom_components"):
                yield name


def load(package: Path) -> float:
    """Import every module of the package afresh; return the seconds."""
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]
    start = process_time()
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        importlib.import_module(f"{NAME}.{name}".removesuffix(".__init__"))
    return process_time() - start


def main(package: Path) -> None:
    """Warm up, then print the best of five."""
    for name in set(foreign_modules(package)):
        importlib.import_module(name)
    load(package)
    print(min(load(package) for _ in range(5)))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
