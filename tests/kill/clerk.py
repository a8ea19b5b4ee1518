"""A model that decides something new each time it is woken, and numbers it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
import time
from typing import Any, Final

from tests.support.llm_server import LlmServer, calls, text

CARRY_OUT: Final = "carry_out"
AFTER_A_YES: Final = "carry_out_after_a_yes"
TELL_OWNER: Final = "tell_owner"
TOKENS: Final = 4000  # of each answer
THINKS: Final = 0.1  # seconds

# What each heartbeat does.
ACTS: Final = "acts"
ASKS: Final = "asks"
SPEAKS: Final = "speaks"
# These only look, each until its fuse stops it.
COUNTED: Final = "counted"
TIMED: Final = "timed"
FRUGAL: Final = "frugal"
QUIET: Final = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """A run's first request, and the number of what came of it."""

    model: str
    at: float
    life: int
    decision: str


class Clerk:
    """Serves one model for each heartbeat, and keeps what it was asked."""

    def __init__(self, server: LlmServer) -> None:
        self.life = 0
        self.wakes: list[Wake] = []
        self.url = server.url
        server.models = [ACTS, ASKS, SPEAKS, COUNTED, TIMED, FRUGAL, QUIET]
        server.always = self._answer

    def woken(self, model: str) -> list[Wake]:
        """Return the wakes of one heartbeat, oldest first."""
        return [one for one in self.wakes if one.model == model]

    async def _answer(self, request: Mapping[str, Any]) -> Any:
        model, messages = request["model"], request["messages"]
        names = [tool["function"]["name"] for tool in request["tools"]]
        if names == ["report_ready"]:  # It is only tried.
            return calls(("report_ready", {}))
        is_wake = messages[-1]["role"] == "user"
        wanted = self._wanted(model, self._decide(model)) if is_wake else []
        await asyncio.sleep(THINKS)
        answer = calls(*wanted) if wanted else text("That is all.")
        return {**answer, "usage": _usage(TOKENS)}

    def _wanted(self, model: str, decision: str) -> list[tuple[str, dict[str, Any]]]:
        carry_out = (CARRY_OUT, {"decision": decision})
        tell = (TELL_OWNER, {"message": f"This was {decision}."})
        return {
            ACTS: [carry_out, tell],
            ASKS: [(AFTER_A_YES, {"decision": decision, "because": "it is due"})],
            SPEAKS: [tell],
        }.get(model, [])

    def _decide(self, model: str) -> str:
        decision = f"decision_{len(self.wakes)}_"
        self.wakes.append(
            Wake(model=model, at=time.time(), life=self.life, decision=decision)
        )
        return decision


def _usage(tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": tokens - 10,
        "completion_tokens": 10,
        "total_tokens": tokens,
    }
