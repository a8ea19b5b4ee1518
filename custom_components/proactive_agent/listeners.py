"""Callbacks that want to hear of something, in the order they came."""

from collections.abc import Callable

from homeassistant.core import CALLBACK_TYPE, callback


class Listeners[**P]:
    """A list of callbacks; each is added with its own way out."""

    def __init__(self) -> None:
        """Begin with nobody listening."""
        self._listeners: list[Callable[P, None]] = []

    @callback
    def add(self, listener: Callable[P, None]) -> CALLBACK_TYPE:
        """Call `listener` from now on, until what is returned is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @callback
    def fire(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call everybody."""
        for listener in tuple(self._listeners):
            listener(*args, **kwargs)
