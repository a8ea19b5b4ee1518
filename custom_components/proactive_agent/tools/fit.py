"""Whether what the model asks for suits each of the entities it named."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from homeassistant.core import HomeAssistant, State

from .choices import hangs_on_entity, length_of, options_of, span_of
from .fields import Parameters
from .match import field_applies
from .values import outside, shown_options, shown_range


def misfit(
    hass: HomeAssistant,
    domain: str,
    parameters: Parameters,
    entity_ids: Iterable[str],
    data: Mapping[str, Any],
) -> str | None:
    """Say in a sentence what one of the entities does not take; None if all fits.

    The tool's schema takes whatever any entity takes; here each entity is asked for
    what it takes itself, now.
    """
    for entity_id in entity_ids:
        state = hass.states.get(entity_id)
        if state is None:
            continue  # the guard has a sentence for it
        for sentence in _sentences(domain, parameters, state, data):
            return sentence
    return None


def _sentences(
    domain: str, parameters: Parameters, state: State, data: Mapping[str, Any]
) -> Iterator[str]:
    for name, value in data.items():
        if not field_applies(parameters.filters.get(name), state):
            yield f"{state.entity_id} does not take {name}."
        elif taken := _taken_instead(domain, name, state, value):
            yield f"{name}: {state.entity_id} takes {taken}."


def _taken_instead(domain: str, name: str, state: State, value: Any) -> str | None:
    """Return what the entity takes, if the value is not of it."""
    if hangs_on_entity(domain, name):
        options = options_of(domain, name, state)
        return None if not options or value in options else shown_options(options)
    if span := span_of(domain, name, state):
        wrong = not isinstance(value, str) and outside(value, span.low, span.high)
        return shown_range(span.low, span.high) if wrong else None
    if isinstance(value, str) and (length := length_of(domain, name, state)):
        wrong = outside(len(value), length.low, length.high)
        return f"{shown_range(length.low, length.high)} characters" if wrong else None
    return None
