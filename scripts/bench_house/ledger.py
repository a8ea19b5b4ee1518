"""What Home Assistant fires, writes into its states, and writes to its disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import os
from pathlib import Path
import sys
from typing import Any, Self
from unittest.mock import patch

from homeassistant.const import MATCH_ALL
from homeassistant.core import Event, HomeAssistant, StateMachine, callback

WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(slots=True)
class Ledger:
    """The counts since it was opened.

    Events and states count while `is_counting`; `files` are all that were written, as
    what is put off is written when its time comes.
    """

    folder: Path
    files: list[str] = field(default_factory=list)
    events: int = 0
    state_writes: int = 0
    is_counting: bool = False

    @classmethod
    @contextmanager
    def of(cls, hass: HomeAssistant) -> Iterator[Self]:
        """Count for as long as the context lasts, in every thread."""
        ledger = cls(folder=Path(hass.config.config_dir))
        write_state = StateMachine.async_set_internal

        @callback
        def note_event(_event: Event[Any]) -> None:
            ledger.events += ledger.is_counting

        def note_state(states: StateMachine, *args: Any, **kwargs: Any) -> None:
            # Also one that writes what is there already, which fires no event.
            ledger.state_writes += ledger.is_counting
            write_state(states, *args, **kwargs)

        is_open = True

        def note_file(event: str, args: tuple[Any, ...]) -> None:
            if is_open:
                ledger.note(event, args)

        sys.addaudithook(note_file)  # stays for good, hence `is_open`
        unlisten = hass.bus.async_listen(MATCH_ALL, note_event)
        try:
            with patch.object(StateMachine, "async_set_internal", note_state):
                yield ledger
        finally:
            is_open = False
            unlisten()

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        """Note a file below the folder that is written, or put into its place."""
        match event, args:
            case "os.rename", (_, str() as path, *_):
                pass
            case "open", (str() as path, _, int() as flags) if flags & WRITES:
                pass
            case _:
                return
        written = Path(path)
        # One without a name, or with one for the moment, gets its place later.
        is_for_now = written.is_dir() or written.name.startswith("tmp")
        if written.is_relative_to(self.folder) and not is_for_now:
            self.files.append(written.relative_to(self.folder).as_posix())
