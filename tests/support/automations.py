"""Automations that somebody has made, and what they have heard."""

from collections.abc import Mapping, Sequence
from typing import Any

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component

DETAILS = (
    "heartbeat",
    "device_id",
    "entity_id",
    "message",
    "outcome",
    "run_id",
    "kind",
    "reason",
    "detail",
    "approval_id",
    "answered_by",
)


class Heard:
    """What automations were told in `trigger`, in order."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.told: list[dict[str, Any]] = []
        hass.bus.async_listen("heard", self._note)

    @callback
    def _note(self, event: Event) -> None:
        self.told.append(dict(event.data))

    @property
    def by(self) -> list[str]:
        """The automations, one for each time that one ran."""
        return [one["by"] for one in self.told]


async def listen(
    hass: HomeAssistant,
    triggers: Mapping[str, Any],
    *actions: Any,
    conditions: Sequence[Any] = (),
) -> Heard:
    """Set up an automation for each trigger, named by its key; it also acts."""
    heard = Heard(hass)
    details = {key: f"{{{{ trigger.{key} | default(none) }}}}" for key in DETAILS}
    automations = [
        {
            "id": name,
            "alias": name,
            "mode": "queued",
            "triggers": [trigger],
            "conditions": [*conditions],
            "actions": [
                {"event": "heard", "event_data": {"by": name, **details}},
                *actions,
            ],
        }
        for name, trigger in triggers.items()
    ]
    assert await async_setup_component(hass, "automation", {"automation": automations})
    await hass.async_block_till_done()
    for name in triggers:
        state = hass.states.get(f"automation.{name}")
        assert state is not None
        assert state.state == "on"
    return heard


def on(kind: str, **target: Any) -> dict[str, Any]:
    """Return a trigger as the automation editor writes it."""
    return {"trigger": f"proactive_agent.{kind}", "target": target}
