"""Who knows of an action before it is called, so that no crash hides it (S5)."""

from collections.abc import Sequence
from typing import Protocol

from ..engine.records import ActionRecord


class Witness(Protocol):
    """Writes down what a run is about to do, before it is done."""

    async def async_about_to(self, actions: Sequence[ActionRecord], /) -> None:
        """Have it on disk that the last of these actions is about to be called."""
        ...

    def done_so_far(self, actions: Sequence[ActionRecord], /) -> None:
        """Note how the actions stand by now."""
        ...


class Nobody:
    """Writes nothing down: an approved action is already on disk (P3)."""

    async def async_about_to(self, _actions: Sequence[ActionRecord], /) -> None:
        """Know nothing."""

    def done_so_far(self, _actions: Sequence[ActionRecord], /) -> None:
        """Know nothing."""
