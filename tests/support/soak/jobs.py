"""The five jobs that the heartbeats of the home are there for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentryDataWithId

from .household import BATH, CHORE, DOOR, FREEZER, HEATER, LEAK, POWER, WASHER

MAX_WAKES_PER_DAY: Final = 20
TELL_OWNER: Final = "tell_owner"

type States = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A heartbeat: its gate, and when a good model does what."""

    title: str
    prompt: str
    gate: Mapping[str, Any]
    look: tuple[str, ...]
    act: tuple[str, ...] = ()
    is_due: Callable[[States], bool]
    tool: str
    arguments: Mapping[str, Any]
    deed: str | None

    @property
    def heartbeat_id(self) -> str:
        """The id of the subentry."""
        return f"soak_{self.title.lower()}"

    @property
    def switch(self) -> str:
        """The entity that is the heartbeat itself."""
        return f"switch.{self.title.lower()}_heartbeat"

    @property
    def entity_ids(self) -> tuple[str, ...]:
        """Everything that the heartbeat may see."""
        return (*self.look, *self.act)

    @property
    def subentry(self) -> ConfigSubentryDataWithId:
        """The heartbeat as it is stored."""
        return ConfigSubentryDataWithId(
            data={
                "check_prompt": self.prompt,
                "interval": {"minutes": 1},
                "conditions": [self.gate],
                "look": {"entity_id": [*self.look]},
                "act": {"entity_id": [*self.act]},
                "notify": ["notify.phone"],
                "fuses": {"max_wakes_per_day": MAX_WAKES_PER_DAY},
            },
            subentry_id=self.heartbeat_id,
            subentry_type="heartbeat",
            title=self.title,
            unique_id=None,
        )


def _state(entity_id: str, state: str) -> dict[str, Any]:
    return {"condition": "state", "entity_id": entity_id, "state": state}


def _number(entity_id: str, **limit: float) -> dict[str, Any]:
    return {"condition": "numeric_state", "entity_id": entity_id, **limit}


JOBS: Final = (
    Job(
        title="Door",
        prompt="Close the door if it stands open.",
        gate=_state(DOOR, "on"),
        look=(DOOR,),
        act=("script.close_door",),
        is_due=lambda states: states.get(DOOR) == "on",
        tool="close_door",
        arguments={},
        deed="close_door",
    ),
    Job(
        title="Leak",
        prompt="Shut the water off if there is a leak.",
        gate=_state(LEAK, "on"),
        look=(LEAK, POWER),
        act=("script.shut_water",),
        is_due=lambda states: states.get(LEAK) == "on",
        tool="shut_water",
        arguments={},
        deed="shut_water",
    ),
    Job(
        title="Bath",
        prompt="Heat the bath if it is really cold there.",
        gate=_number(BATH, below=18),
        look=(BATH,),
        act=(HEATER,),
        is_due=lambda states: (
            float(states.get(BATH, "nan")) < 17 and states.get(HEATER) == "off"
        ),
        tool="input_boolean_turn_on",
        arguments={"entity_id": [HEATER]},
        deed=HEATER,
    ),
    Job(
        title="Freezer",
        prompt="Restart the freezer if it gets warm.",
        gate=_number(FREEZER, above=-12),
        look=(FREEZER, POWER),
        act=("script.restart_freezer",),
        is_due=lambda states: float(states.get(FREEZER, "nan")) > -12,
        tool="restart_freezer",
        arguments={},
        deed="restart_freezer",
    ),
    Job(
        title="Washer",
        prompt="Tell when the washer is done.",
        gate=_state(WASHER, "done"),
        look=(WASHER, POWER),
        is_due=lambda states: states.get(WASHER) == "done",
        tool=TELL_OWNER,
        arguments={},
        deed=None,
    ),
)

SCRIPTS: Final = {
    what: {"sequence": [{"event": CHORE, "event_data": {"what": what}}]}
    for what in ("close_door", "shut_water", "restart_freezer")
}
