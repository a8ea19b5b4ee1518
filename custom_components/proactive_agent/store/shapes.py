"""The shapes that servers want their requests in, remembered with their endpoint."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from homeassistant.core import callback

from ..engine.wire.shape import USUAL, Shape

MAX_REMEMBERED: Final = 16  # models; the one that was asked last is kept


class StoredShapes:
    """The shape of requests for each model, by its server's address and its name."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """Remember nothing; `on_change` is called when there is something to write."""
        self._shapes: OrderedDict[tuple[str, str], Shape] = OrderedDict()
        self._on_change = on_change

    def get(self, url: str, model: str) -> Shape:
        """Return the shape for a model, the usual one if it has refused nothing."""
        return self._shapes.get((url, model), USUAL)

    @callback
    def put(self, url: str, model: str, shape: Shape) -> None:
        """Remember a shape that the server has taken."""
        self._shapes[url, model] = shape
        self._shapes.move_to_end((url, model))
        if len(self._shapes) > MAX_REMEMBERED:
            self._shapes.popitem(last=False)
        self._on_change()

    def load(self, stored: Any) -> None:
        """Take what `as_list` wrote; a shape that cannot be read is left out."""
        for one in stored if isinstance(stored, list) else ():
            match one:
                case {"url": str(url), "model": str(model), "shape": shape}:
                    self._shapes[url, model] = Shape.from_dict(shape)

    def as_list(self) -> list[dict[str, Any]]:
        """Return everything as plain data."""
        return [
            {"url": url, "model": model, "shape": shape.as_dict()}
            for (url, model), shape in self._shapes.items()
        ]
