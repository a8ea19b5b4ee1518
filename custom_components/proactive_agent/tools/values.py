"""What one argument may be; each checks a value and says in words what it takes."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from homeassistant.helpers import config_validation as cv, selector
import probatio

_SHOWN_OPTIONS = 20


class Choice:
    """Some of a fixed set of words, as a list or as one of them."""

    def __init__(
        self, options: Iterable[str], *, multiple: bool, most: int | None = None
    ) -> None:
        """Take the options in the order in which they are to be shown."""
        self.options = tuple(options)
        self.multiple = multiple
        self.most = most
        self._known = frozenset(self.options)

    def __call__(self, value: Any) -> str | list[str]:
        """Return the choice, or raise with the options in the sentence."""
        if not self.multiple:
            return self._one(value)
        values = value if isinstance(value, list) else [value]
        if not values:
            raise probatio.Invalid("must not be empty")
        chosen = [*dict.fromkeys(self._one(one) for one in values)]
        if self.most is not None and len(chosen) > self.most:
            raise probatio.Invalid(f"takes at most {self.most}")
        return chosen

    def _one(self, value: Any) -> str:
        if isinstance(value, str) and value in self._known:
            return value
        raise probatio.Invalid(f"must be one of: {shown_options(self.options)}")


class Number:
    """A number between two bounds; None is no bound."""

    def __init__(
        self,
        *,
        low: float | None = None,
        high: float | None = None,
        whole: bool = False,
    ) -> None:
        """Take the bounds, both of them allowed values; `whole` takes no fractions."""
        self.low = low
        self.high = high
        self.whole = whole

    def __call__(self, value: Any) -> float:
        """Return a finite number, whole where it is, or raise with the bounds."""
        number = as_number(value)
        if self.whole and not isinstance(number, int):
            raise probatio.Invalid("must be a whole number")
        if (sentence := outside(number, self.low, self.high)) is not None:
            raise probatio.Invalid(sentence)
        return number


class Field:
    """A field of which a selector says what it takes."""

    def __init__(self, inner: selector.Selector[Any], *, is_wide: bool) -> None:
        """Wrap a selector; `is_wide` fields are not described in detail."""
        self.inner = inner
        self.is_wide = is_wide

    def __call__(self, value: Any) -> Any:
        """Check a value; return it as JSON, not as what a selector makes of it."""
        if isinstance(self.inner, selector.DurationSelector):
            return _duration(value)
        checked = self.inner(value)  # type: ignore[operator]
        if isinstance(self.inner, selector.NumberSelector):
            as_number(value)
            return int(checked) if checked.is_integer() else checked
        return value


def as_number(value: Any) -> float:
    """Read a number, also from a text; raise for everything else, NaN too."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise probatio.Invalid("must be a number")
    try:
        number = float(value)
    except ValueError, OverflowError:
        raise probatio.Invalid("must be a number") from None
    if not isfinite(number):
        raise probatio.Invalid("must be a number")
    return int(number) if number.is_integer() else number


def outside(number: float, low: float | None, high: float | None) -> str | None:
    """Say what range a number is outside of; None if it is inside."""
    if (low is None or number >= low) and (high is None or number <= high):
        return None
    return f"must be {shown_range(low, high)}"


def shown_range(low: float | None, high: float | None) -> str:
    """Write a range in words."""
    if low is None:
        return f"at most {_plain(high)}"
    return (
        f"at least {_plain(low)}"
        if high is None
        else f"{_plain(low)} to {_plain(high)}"
    )


def shown_options(options: tuple[str, ...]) -> str:
    """Name the options, not endlessly."""
    more = ", …" if len(options) > _SHOWN_OPTIONS else ""
    return f"{', '.join(options[:_SHOWN_OPTIONS]) or 'nothing'}{more}"


def _duration(value: Any) -> Any:
    """Take a duration also as HH:MM:SS or in seconds; the action reads them as well."""
    if isinstance(value, bool):
        raise probatio.Invalid("must be a duration")
    cv.time_period(value)
    return value


def _plain(number: float | None) -> str:
    return f"{number:.10g}" if number is not None else "nothing"
