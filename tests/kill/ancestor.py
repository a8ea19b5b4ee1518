"""What every Home Assistant of these tests descends from: all of it is imported once.

Run as a process of its own. Each line that it reads is a folder; for each it forks a
child in which Home Assistant starts there, and answers with the child's process id.
When there is nothing more to read, none of its children is left.
"""

from importlib import import_module
import logging
import os
from pathlib import Path
import signal
import sys
from typing import Final

import homeassistant.__main__ as home_assistant

# What a home starts with; a child need not read that again.
IMPORTED: Final = (
    "bootstrap",
    "runner",
    "components.config",
    "components.diagnostics",
    "components.input_boolean",
    "components.input_text",
    "components.lock",
    "components.logbook",
    "components.mobile_app",
    "components.onboarding",
    "components.recorder",
    "components.rest_command",
    "components.script",
    "components.template",
)


def main() -> None:
    """Fork until the input ends."""
    # It regrets that there are no pictures to be made smaller.
    logging.getLogger("homeassistant.components.camera.img_util").disabled = True
    for name in IMPORTED:
        import_module(f"homeassistant.{name}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    children = set()
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        child = os.fork()
        if child == 0:
            live_in(folder)
        children.add(child)
        print(child, flush=True)  # noqa: T201 - what it is asked for
    for child in children:
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


def live_in(folder: Path) -> None:
    """Be a Home Assistant; never returns."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(folder / "demo.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    sys.argv = ["hass", "--config", str(folder), "--log-no-color", "--skip-pip"]
    status = 1
    try:
        status = home_assistant.main()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
