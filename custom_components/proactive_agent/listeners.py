"""Callbacks that are called when something happens, in the order they were added."""

from collections.abc import Callable
import logging

from homeassistant.core import CALLBACK_TYPE, callback

_LOGGER = logging.getLogger(__name__)


class Listeners[**P]:
    """A list of callbacks; each can be taken off again."""

    def __init__(self) -> None:
        """Begin with none."""
        self._listeners: list[Callable[P, None]] = []

    @callback
    def add(self, listener: Callable[P, None]) -> CALLBACK_TYPE:
        """Call `listener` from now on; returns what takes it off."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @callback
    def fire(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call each; one that fails keeps neither the others nor the caller up."""
        for listener in tuple(self._listeners):
            try:
                listener(*args, **kwargs)
            except Exception:
                _LOGGER.exception("A listener failed")
