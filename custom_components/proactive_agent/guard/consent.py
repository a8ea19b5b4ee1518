"""What the guard needs of the owner's yes (P1, P3, P4)."""

from typing import Protocol

from .checks import Action


class Consent(Protocol):
    """Puts an action that needs a yes to the owner."""

    async def async_ask(self, action: Action, index: int, /) -> None:
        """Ask for an action that will be number `index` of the run's record.

        Raises `ActionRefusedError` where it is not asked, for the model to know why.
        """
        ...


class Grant(Protocol):
    """The owner's yes to one action."""

    async def async_begin(self) -> None:
        """Write down that it is about to be called.

        Raises `ActionRefusedError` where it must not be.
        """
        ...

    def check(self) -> None:
        """Raise `ActionRefusedError` if the yes was to another situation (P4)."""
        ...
