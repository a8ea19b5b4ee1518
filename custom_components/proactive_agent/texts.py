"""Sentences for the owner, in the home's language."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Self

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.translation import (
    async_get_cached_translations,
    async_get_translations,
)
from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .engine.errors import ModelError
from .engine.records import ActionRecord

_SENTENCES = f"component.{DOMAIN}.selector.message.options"
_SCRIPT_DOMAINS = {"script", "scene"}


class Texts:
    """The sentences of the integration and the names of actions and entities."""

    def __init__(
        self,
        hass: HomeAssistant,
        *,
        sentences: Mapping[str, str],
        services: Mapping[str, str],
    ) -> None:
        """Keep what was loaded; use `async_load`."""
        self._hass = hass
        self._sentences = sentences
        self._services = services

    @classmethod
    async def async_load(
        cls, hass: HomeAssistant, actions: tuple[ActionRecord, ...] = ()
    ) -> Self:
        """Load the sentences, and the names of the services in `actions`."""
        language = hass.config.language
        domains = {action.action.partition(".")[0] for action in actions}
        return cls(
            hass,
            sentences=await async_get_translations(
                hass, language, "selector", {DOMAIN}
            ),
            services=await async_get_translations(hass, language, "services", domains),
        )

    def say(self, key: str, **placeholders: str) -> str:
        """Return one sentence with its placeholders filled in."""
        return self._sentences[f"{_SENTENCES}.{key}"].format(**placeholders)

    def name_of(self, action: ActionRecord) -> str:
        """Name an action as a person would: what was done, and to what."""
        domain, _, service = action.action.partition(".")
        entities = self.things_of(action)
        if domain in _SCRIPT_DOMAINS and entities:
            return entities
        done = self._services.get(
            f"component.{domain}.services.{service}.name", action.action
        )
        return f"{done} ({entities})" if entities else done

    def things_of(self, action: ActionRecord) -> str:
        """Name what an action was done to."""
        return ", ".join(self._entity_name(entity) for entity in action.entity_id)

    def _entity_name(self, entity_id: str) -> str:
        state = self._hass.states.get(entity_id)
        return state.name if state else entity_id


async def async_error_text(hass: HomeAssistant, error: ModelError) -> str:
    """Say what to do about an error of the model, and what the server said."""
    language = hass.config.language
    return _error_text(
        await async_get_translations(hass, language, "selector", {DOMAIN}), error
    )


@callback
def cached_error_text(hass: HomeAssistant, error: ModelError) -> str:
    """Say the same without waiting; set-up has loaded the sentences."""
    return _error_text(
        async_get_cached_translations(hass, hass.config.language, "selector", DOMAIN),
        error,
    )


def _error_text(sentences: Mapping[str, str], error: ModelError) -> str:
    advice = sentences.get(f"{_SENTENCES}.error_{error.advice}")
    said = sentences.get(f"{_SENTENCES}.error_said")
    if advice is None or said is None:
        return str(error)
    # Whoever raised it may not have known all that the sentence would like to name.
    known = defaultdict(lambda: "?", error.placeholders)
    text = advice.format_map(known)
    return f"{text} {said.format(said=error.said)}" if error.said else text


@callback
def cached_sentence(hass: HomeAssistant, key: str, **placeholders: str) -> str:
    """Return a sentence without waiting; set-up has loaded it."""
    loaded = async_get_cached_translations(
        hass, hass.config.language, "selector", DOMAIN
    )
    return loaded.get(f"{_SENTENCES}.{key}", key).format(**placeholders)


def local_time(moment: datetime) -> str:
    """Say when something is, with the day if that is not today."""
    local = dt_util.as_local(moment)
    is_today = local.date() == dt_util.now().date()
    return local.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")
