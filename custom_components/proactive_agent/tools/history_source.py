"""What the recorder knows of entities; asked in the recorder's own threads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
import json

from homeassistant.components.recorder import get_instance, history
from homeassistant.components.recorder.statistics import statistics_during_period
from homeassistant.const import ATTR_UNIT_OF_MEASUREMENT
from homeassistant.core import HomeAssistant

from ..engine.answer import ANSWER_LIMIT
from ..engine.records import JsonObject
from .history_summary import (
    Measured,
    Window,
    held_states,
    tell_numbers,
    tell_states,
)

_ROWS = (40, 20, 10, 6, 3, 1)
_FRAME = 200  # what an answer needs beside its stories
_MAX_CHANGES = 5_000
_MANY_HOURS = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Now:
    """What Home Assistant itself knows: the recorder is a few seconds behind."""

    since: float
    state: str
    unit: str | None
    has_statistics: bool


async def async_read(
    hass: HomeAssistant, entity_ids: Sequence[str], window: Window
) -> dict[str, JsonObject]:
    """Return what happened to each of the entities within the window."""
    now = {entity_id: _now(hass, entity_id) for entity_id in entity_ids}
    return await get_instance(hass).async_add_executor_job(
        partial(_read, hass, now, window)
    )


def _now(hass: HomeAssistant, entity_id: str) -> _Now | None:
    state = hass.states.get(entity_id)
    if state is None:
        return None
    return _Now(
        since=state.last_changed_timestamp,
        state=state.state,
        unit=state.attributes.get(ATTR_UNIT_OF_MEASUREMENT),
        has_statistics=state.attributes.get("state_class") is not None,
    )


def _read(
    hass: HomeAssistant, entities: Mapping[str, _Now | None], window: Window
) -> dict[str, JsonObject]:
    """Tell of each entity as much as there is room for in one answer (R5)."""
    room = (ANSWER_LIMIT - _FRAME) // len(entities)
    stories: dict[str, JsonObject] = {}
    for entity_id, now in entities.items():
        story = _story(hass, entity_id, now, window)
        for rows in _ROWS:
            stories[entity_id] = told = story(rows)
            if len(json.dumps({entity_id: told}, ensure_ascii=False)) <= room:
                break
    return stories


def _story(
    hass: HomeAssistant, entity_id: str, now: _Now | None, window: Window
) -> Callable[[int], JsonObject]:
    """Read an entity's past; return how to tell it in so many rows."""
    unit = now.unit if now else None
    is_long = window.end - window.start > _MANY_HOURS
    if is_long and now is not None and now.has_statistics:
        pieces = _statistics(hass, entity_id, window)
        if pieces:
            return lambda rows: tell_numbers(pieces, rows=rows, unit=unit)
    reached, changes = _changes(hass, entity_id, window)
    if now is not None:
        changes.append((now.since, now.state))
    held = held_states(changes, reached)
    hours = (reached.end - reached.start) / timedelta(hours=1)
    note = {"note": f"Too many changes: only the last {hours:.3g} h."}
    before = {} if reached == window else note
    return lambda rows: {**before, **tell_states(held, rows=rows, unit=unit)}


def _changes(
    hass: HomeAssistant, entity_id: str, window: Window
) -> tuple[Window, list[tuple[float, str]]]:
    """Return the changes of the window; if they are too many, of its last part."""
    while True:
        found = history.state_changes_during_period(
            hass,
            window.start,
            window.end,
            entity_id,
            no_attributes=True,
            limit=_MAX_CHANGES,
        ).get(entity_id, [])
        if len(found) < _MAX_CHANGES:
            break
        window = Window(
            start=window.end - (window.end - window.start) / 4, end=window.end
        )
        if window.end - window.start < timedelta(minutes=1):
            break
    return window, [(row.last_updated_timestamp, row.state) for row in found]


def _statistics(hass: HomeAssistant, entity_id: str, window: Window) -> list[Measured]:
    rows = statistics_during_period(
        hass,
        window.start,
        window.end,
        {entity_id},
        "hour",
        None,
        {"max", "mean", "min", "state"},
    ).get(entity_id, [])
    pieces: list[Measured] = []
    for row in rows:
        value = row.get("mean")
        if value is None:
            value = row.get("state")  # a meter has no mean, but a reading
        if value is None:
            continue
        low, high = row.get("min"), row.get("max")
        pieces.append(
            Measured(
                start=row["start"],
                end=row["end"],
                mean=value,
                low=value if low is None else low,
                high=value if high is None else high,
            )
        )
    return pieces
