"""Hides who lives in a home wherever they are named."""

from collections.abc import Iterable, Mapping
import re
from typing import Any, Final, Self

from homeassistant.core import HomeAssistant, split_entity_id
from homeassistant.util import slugify

_REDACTED: Final = "redacted"
_SHORTEST: Final = 3  # letters; shorter names are found in too many words
_WHO: Final = re.compile(r"\b(person|device_tracker|zone|notify)\.([a-z0-9_]+)")
_NOBODYS: Final = frozenset(
    {
        "notify.notify",
        "notify.persistent_notification",
        "notify.send_message",
        "zone.home",
    }
)
_PHONE: Final = "mobile_app_"


class Veil:
    """Puts numbers in place of persons, trackers, zones and recipients.

    Names of persons and of users are taken out of every other text, too.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Hide these names."""
        spellings = {
            spelling
            for name in names
            for spelling in (name.casefold(), slugify(name))
            if len(spelling) >= _SHORTEST
        }
        listed = "|".join(
            re.escape(one) for one in sorted(spellings, key=len, reverse=True)
        )
        # Underscores part words here: annas_phone, phone_of_anna.
        self._names = re.compile(
            rf"(?<![^\W_])(?:{listed})(?:'?s)?(?![^\W_])" if listed else r"(?!)",
            re.IGNORECASE,
        )
        self._numbers: dict[str, str] = {}

    @classmethod
    async def async_of(cls, hass: HomeAssistant) -> Self:
        """Know who lives in this home, and who may log in."""
        persons = [
            word
            for state in hass.states.async_all("person")
            for name in (state.name, split_entity_id(state.entity_id)[1])
            for word in (name, *re.split(r"[\s_]+", name))
        ]
        users = [
            user.name
            for user in await hass.auth.async_get_users()
            if user.name and not user.system_generated
        ]
        return cls([*persons, *users])

    def over(self, value: Any) -> Any:
        """Return plain data with nobody in it; keys stay as they are."""
        match value:
            case str():
                return self._names.sub(_REDACTED, _WHO.sub(self._number, value))
            case Mapping():
                return {key: self.over(one) for key, one in value.items()}
            case list() | tuple():
                return [self.over(one) for one in value]
        return value

    def _number(self, found: re.Match[str]) -> str:
        entity_id, domain, name = found[0], found[1], found[2]
        if entity_id in _NOBODYS:
            return entity_id
        if entity_id not in self._numbers:
            kind = _PHONE if name.startswith(_PHONE) else ""
            number = len(self._numbers) + 1
            self._numbers[entity_id] = f"{domain}.{kind}{_REDACTED}_{number}"
        return self._numbers[entity_id]
