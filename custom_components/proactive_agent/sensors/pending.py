"""What a heartbeat asks its owner, as it is now (P2, P7)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from homeassistant.components.sensor import SensorEntity
from homeassistant.helpers.json import json_bytes

from ..const import ATTR_APPROVAL_ID, ATTR_BECAUSE
from ..engine.approvals import Approval
from ..engine.plain_text import MAX_LENGTH, plain_line, shorten
from ..entity import HeartbeatEntity
from ..heartbeat.heartbeat import Heartbeat

NOTHING: Final = "none"
# Bytes: all attributes together stay under 4 KB.
_IDS_ROOM: Final = 1_000
_DATA_ROOM: Final = 1_000
_VALUES_SHOWN: Final = 10
_VALUE_ROOM: Final = 20  # characters


class PendingApprovalSensor(HeartbeatEntity, SensorEntity):
    """Shows the oldest request that waits for an answer."""

    _unrecorded_attributes = frozenset({ATTR_BECAUSE, "data", "entity_ids", "expires"})

    def __init__(self, heartbeat: Heartbeat) -> None:
        """Be the sensor of what a heartbeat asks."""
        super().__init__(heartbeat, "pending_approval")

    @property
    def _on_show(self) -> object:
        return self.heartbeat.asking.pending

    @property
    def native_value(self) -> str:
        """What a yes would do."""
        pending = self.heartbeat.asking.pending
        return pending[0].words if pending else NOTHING

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """What is asked exactly, why, until when, and how many wait."""
        pending = self.heartbeat.asking.pending
        if not pending:
            return {"waiting": 0}
        oldest = pending[0]
        return {
            "waiting": len(pending),
            ATTR_APPROVAL_ID: oldest.approval_id,
            "action": oldest.action,
            "entity_ids": [*_fitting(oldest.entity_id)],
            "data": _shown_data(oldest),
            ATTR_BECAUSE: plain_line(oldest.because, MAX_LENGTH),
            "expires": oldest.expires.isoformat(),
        }


def _fitting(entity_ids: Iterable[str]) -> Iterator[str]:
    """Yield as many as there is room for; the record and the events have all."""
    room = _IDS_ROOM
    for entity_id in entity_ids:
        room -= len(entity_id)
        if room < 0:
            return
        yield entity_id


def _shown_data(approval: Approval) -> dict[str, Any]:
    """Return the data, or the beginning of each value where that is too much."""
    if len(json_bytes(approval.data)) <= _DATA_ROOM:
        return {**approval.data}
    return {
        shorten(key, _VALUE_ROOM): shorten(str(value), _VALUE_ROOM)
        for key, value in [*approval.data.items()][:_VALUES_SHOWN]
    }
