"""Imports the engine where there is no Home Assistant; prints how many modules it has.

usage: python -m tests.support.engine_alone PACKAGE_FOLDER
"""

import importlib
from importlib.machinery import ModuleSpec
from pathlib import Path
import sys
from types import ModuleType

ABSENT = {"aiohttp", "homeassistant", "probatio", "voluptuous"}


class Absent:
    """Finds none of what the engine has to do without."""

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """Refuse; or leave it to the next finder."""
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"the engine asked for {name}")
        return None


def main(package: Path) -> None:
    """Import the engine under a parent that is empty."""
    sys.meta_path.insert(0, Absent())
    parent = ModuleType("agent")
    parent.__path__ = [str(package)]
    sys.modules["agent"] = parent
    modules = sorted((package / "engine").rglob("*.py"))
    for path in modules:
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        importlib.import_module(f"agent.{name}".removesuffix(".__init__"))
    print(len(modules))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
