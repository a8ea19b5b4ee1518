"""The voice of the demo: one line a tick, a few more when somebody wakes."""

from typing import TextIO

from .ledger import Ledger, Tick
from .verdict import Figures

INDENT = " " * 9


class Narrator:
    """Tells on a terminal what the ledger shows."""

    def __init__(self, stream: TextIO) -> None:
        """Speak to this stream, line by line."""
        self._stream = stream
        self._told: Tick | None = None
        self._is_told_awake = False
        self._has_told_end = False
        self._actions_told = 0
        self._waited = False

    def say(self, line: str) -> None:
        """Say something of the day's course."""
        print(line, file=self._stream, flush=True)

    def follow(self, ledger: Ledger) -> None:
        """Tell what is new; to be called after each reading of the ledger."""
        tick = ledger.tick
        if tick is not self._told:
            self._told, self._waited = tick, False
            self._is_told_awake = self._has_told_end = False
            self._actions_told = 0
        if tick.woke:
            self._follow_wake(tick)
        elif tick.number and not self._waited:
            # A wake may show a moment after its tick was counted.
            self._waited = True
        elif tick.number and self._waited and not self._has_told_end:
            self._has_told_end = True
            self.say(f"{_label(tick)} · quiet · {tick.hearts} · {tick.tokens} tokens")

    def sum_up(self, figures: Figures) -> None:
        """Tell the story's figures."""
        self.say(
            f"That was the story: {figures.ticks} ticks, {figures.quiet} quiet, "
            f"{figures.wakes} wake with {figures.requests} requests, "
            f"{figures.notifications} message."
        )

    def _follow_wake(self, tick: Tick) -> None:
        if not self._is_told_awake:
            # What was quiet at its tick has been woken since by somebody.
            label = "by hand" if self._has_told_end else _label(tick)
            self._is_told_awake, self._has_told_end = True, False
            self.say(f"{label} · awake · {tick.hearts}")
        for action in tick.actions[self._actions_told :]:
            self.say(f"{INDENT}does {action}")
        self._actions_told = len(tick.actions)
        if tick.message and not self._has_told_end:
            self._has_told_end = True
            self.say(f"{INDENT}tells its owner: {tick.message}")
            asked = f"{tick.requests} requests, {tick.tokens} tokens"
            self.say(f"{INDENT}asleep again · {asked}")


def _label(tick: Tick) -> str:
    return f"tick {tick.number}" if tick.number else "by hand"
