"""The story's books: what was seen from outside, sorted to the ticks."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .house import HAPPY, HUNGER, IN_ITS_HANDS

WOKEN: Final = "proactive_agent_heartbeat_tick"
ACTED: Final = "proactive_agent_acted"
OURS: Final = "proactive_agent_"

type Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearts:
    """How the pet is, 0 to 4 hearts each."""

    hunger: float = 0
    happy: float = 0

    def __str__(self) -> str:
        """Write it as the narrator says it."""
        return f"hunger {self.hunger:g}, happy {self.happy:g}"


@dataclass(slots=True, kw_only=True)
class Tick:
    """One counted tick and all that belongs to it; number 0 is before the first."""

    number: int = 0
    hearts: Hearts | None = None
    requests: int = 0
    tokens: int = 0
    woke: bool = False
    message: str | None = None
    actions: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)

    @property
    def is_awake(self) -> bool:
        """Whether its model was woken and has not ended with a message yet."""
        return self.woke and self.message is None

    def add(self, more: Tick) -> None:
        """Add what else was seen of it."""
        self.requests += more.requests
        self.tokens += more.tokens
        self.woke |= more.woke
        self.hearts = more.hearts or self.hearts
        self.message = more.message or self.message
        self.actions += more.actions
        self.claims += more.claims


class Ledger:
    """Counts events, notifications, requests and ticks; judges nothing."""

    def __init__(self, *, requests: int = 0, tokens: int = 0) -> None:
        """Open the books at these readings of the model's meter."""
        self.ticks = [Tick()]
        self.events: Counter[str] = Counter()
        self.notifications: list[str] = []
        self.hearts = Hearts()
        self._meter = (requests, tokens)
        self._contexts: set[str] = set()
        # Seen since the last reading; which tick it belongs to shows only then.
        self._latest = Tick()

    @property
    def tick(self) -> Tick:
        """The tick that is going on."""
        return self.ticks[-1]

    @property
    def counted(self) -> list[Tick]:
        """All ticks but what was before the first."""
        return [tick for tick in self.ticks if tick.number]

    def saw_event(self, event: Event) -> None:
        """Enter one event of Home Assistant's bus."""
        kind = event["event_type"]
        if kind == "state_changed":
            self._saw_state(event["data"])
        elif kind == "call_service":
            self._saw_call(event)
        elif kind.startswith(OURS):
            self.events[kind] += 1
            self._saw_own(event)

    def saw_notification(self, message: str) -> None:
        """Enter a persistent notification that came up."""
        self.notifications.append(message)

    def read(self, *, ticks_used: int, requests: int, tokens: int) -> None:
        """Enter the counters, and sort what was seen since the last reading."""
        latest, self._latest = self._latest, Tick()
        latest.requests = requests - self._meter[0]
        latest.tokens = tokens - self._meter[1]
        self._meter = (requests, tokens)
        if ticks_used == self.tick.number:
            self.tick.add(latest)
            return
        # No tick is counted during a run: its end belongs to the tick that woke it.
        if self.tick.is_awake and latest.message:
            self.tick.add(latest)
            latest = Tick()
        latest.number = ticks_used
        latest.hearts = latest.hearts or self.hearts
        self.ticks.append(latest)

    def _saw_state(self, data: Event) -> None:
        try:
            level = float(data["new_state"]["state"])
        except TypeError, ValueError:
            return
        if data["entity_id"] == HUNGER:
            self.hearts = replace(self.hearts, hunger=level)
        elif data["entity_id"] == HAPPY:
            self.hearts = replace(self.hearts, happy=level)

    def _saw_call(self, event: Event) -> None:
        # What a script does goes on under its caller's context, but is no deed of it.
        if event["context"]["id"] not in self._contexts:
            return
        data = event["data"]
        action = f"{data['domain']}.{data['service']}"
        targets = data["service_data"].get("entity_id", ())
        named = {action, *([targets] if isinstance(targets, str) else targets)}
        if named & set(IN_ITS_HANDS):
            self._latest.actions.append(action)

    def _saw_own(self, event: Event) -> None:
        if event["event_type"] == WOKEN:
            self._contexts.add(event["context"]["id"])
            self._latest.woke = True
            self._latest.hearts = self.hearts
        elif event["event_type"] == ACTED:
            self._latest.message = event["data"]["message"]
            self._latest.claims += [
                claim["action"]
                for claim in event["data"]["actions"]
                if claim["status"] == "done"
            ]
