"""Whether the story went as it should, and its figures."""

from collections import Counter
from dataclasses import asdict, dataclass
import json
from typing import Final

from .ledger import ACTED, WOKEN, Ledger

TICKS: Final = 5
WAKES: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was counted, all of it from outside the integration."""

    ticks: int
    quiet: int
    wakes: int
    requests: int
    quiet_requests: int
    actions: list[str]
    message: str
    events: dict[str, int]
    notifications: int

    @classmethod
    def of(cls, ledger: Ledger) -> Figures:
        """Sum up the books."""
        ticks = ledger.counted
        asleep = [tick for tick in ledger.ticks if not tick.woke]
        return cls(
            ticks=len(ticks),
            quiet=sum(not tick.woke for tick in ticks),
            wakes=sum(tick.woke for tick in ticks),
            requests=sum(tick.requests for tick in ledger.ticks),
            quiet_requests=sum(tick.requests for tick in asleep),
            actions=[action for tick in ticks for action in tick.actions],
            message="\n".join(ledger.notifications),
            events=dict(ledger.events),
            notifications=len(ledger.notifications),
        )

    def as_json(self) -> str:
        """Write the one line that `--headless` ends with."""
        return json.dumps(asdict(self), ensure_ascii=False)


def complaints(figures: Figures, ledger: Ledger) -> list[str]:
    """Say what went otherwise than in the story; empty if nothing did."""
    expected = {
        "ticks": TICKS,
        "quiet": TICKS - WAKES,
        "wakes": WAKES,
        "quiet_requests": 0,
        "events": {WOKEN: WAKES, ACTED: WAKES},
        "notifications": WAKES,
    }
    counted = asdict(figures)
    found = [
        f"{name} should be {value}, but was {counted[name]}"
        for name, value in expected.items()
        if counted[name] != value
    ]
    if not figures.requests:
        found.append("the model was never asked")
    if not {"script.feed", "script.play"} & set(figures.actions):
        found.append(f"Milonga was neither fed nor played with: {figures.actions}")
    claimed = Counter(claim for tick in ledger.ticks for claim in tick.claims)
    if invented := claimed - Counter(figures.actions):
        found.append(f"it claims what was never called: {sorted(invented)}")
    said = [tick.message for tick in ledger.ticks if tick.message]
    if said != ledger.notifications:
        found.append(f"the owner was told {ledger.notifications}, not {said}")
    if min(ledger.hearts.hunger, ledger.hearts.happy) <= 1:
        found.append(f"Milonga is still in need: {ledger.hearts}")
    return found
