"""A model that does its job, when it does not fail, hang or talk nonsense."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
import random
import re
from typing import Any, Final

from tests.support.llm_server import CLOSE, Held, LlmServer, Raw, calls, text

from .jobs import JOBS, TELL_OWNER, Job

_LINE: Final = re.compile(r'^- (\S+) ".*?"(?: in ".*?")?: ([^, ]+)', re.MULTILINE)
_MOST_BAD_RUNS: Final = 2  # in a row
_HANGS_FOR: Final = 300  # seconds, when nobody waits any more


class Mood(StrEnum):
    """How the model is in one run."""

    GOOD = "good"
    STUMBLES = "stumbles"
    IS_BUSY = "is busy"
    INVENTS_TOOL = "invents a tool"
    INVENTS_ARGUMENTS = "invents arguments"
    FAILS_LATE = "fails after it has called"
    FAILS = "fails"
    HANGS = "hangs"
    IS_A_PAGE = "is a page"
    BREAKS_OFF = "breaks off"
    CLOSES = "closes"
    IS_EMPTY = "is empty"
    DREAMS = "dreams"


_BAD: Final = frozenset(
    {
        Mood.FAILS_LATE,
        Mood.FAILS,
        Mood.HANGS,
        Mood.IS_A_PAGE,
        Mood.BREAKS_OFF,
        Mood.CLOSES,
        Mood.IS_EMPTY,
        Mood.DREAMS,
    }
)
# After these nothing is tried again until something changes, for hours (G4).
_LETS_REST: Final = frozenset({Mood.HANGS, Mood.DREAMS})
_ALWAYS: Final[Mapping[Mood, Any]] = {
    Mood.FAILS: Raw(status=503, body={"error": {"message": "overloaded"}}),
    Mood.IS_A_PAGE: Raw(
        headers={"Content-Type": "text/html"}, body="<html><body>Hello</body></html>"
    ),
    Mood.BREAKS_OFF: Raw(body=text("All is"), cut=True),
    Mood.CLOSES: CLOSE,
    Mood.IS_EMPTY: {"choices": []},
    Mood.DREAMS: text("The sky over the sea is a fine thing, and so are tools."),
}
_ONCE: Final[Mapping[Mood, Any]] = {
    Mood.STUMBLES: Raw(status=500, body="oops"),
    Mood.IS_BUSY: Raw(
        status=429, headers={"Retry-After": "20"}, body={"error": {"message": "busy"}}
    ),
    Mood.INVENTS_TOOL: calls(("open_sesame", {"what": "the hill"})),
}


class MoodyModel:
    """Answers for all heartbeats; each run has a mood, by the seed.

    The moods are dealt as cards are, so that each comes up again and again. `may_rest`
    says whether a heartbeat may be left alone for hours.
    """

    def __init__(self, server: LlmServer, seed: int) -> None:
        self.is_out = False
        self.may_rest: Callable[[str], bool] = lambda _title: True
        self.moods = Counter[Mood]()
        self._server = server
        self._random = random.Random(seed)  # noqa: S311 - the same each time
        self._deck: list[Mood] = []
        self._mood: dict[str, Mood] = {}
        self._bad_runs = Counter[str]()
        self._asked = Counter[str]()
        self._hanging: list[tuple[asyncio.TimerHandle, Held]] = []
        server.always = self._answer

    def woken(self, title: str) -> None:
        """Begin another run."""
        self._asked[title] = 0
        mood = self._mood[title] = self._deal(title)
        is_bad = self.is_out or mood in _BAD
        self._bad_runs[title] = self._bad_runs[title] + 1 if is_bad else 0
        self.moods[mood] += 1

    def let_go(self) -> None:
        """Hang no more: whoever has asked is not there any more."""
        for timer, held in self._hanging:
            timer.cancel()
            held.release.set()
        self._hanging.clear()

    def _deal(self, title: str) -> Mood:
        if not self._deck:
            self._deck = [*Mood, *[Mood.GOOD] * 6]
            self._random.shuffle(self._deck)
        mood = self._deck.pop()
        is_too_bad = mood in _BAD and self._bad_runs[title] >= _MOST_BAD_RUNS
        if is_too_bad or (mood in _LETS_REST and not self.may_rest(title)):
            self._deck.insert(0, mood)
            return Mood.GOOD
        return mood

    def _answer(self, request: Mapping[str, Any]) -> Any:
        self._server.requests.clear()
        if self.is_out:
            return CLOSE
        messages = request["messages"]
        said: str = messages[1]["content"]
        (job,) = (one for one in JOBS if said.startswith(one.prompt))
        mood = self._mood[job.title]
        self._asked[job.title] += 1
        if (always := _ALWAYS.get(mood)) is not None:
            return always
        if mood is Mood.HANGS:
            held = Held(text("It is late."))
            loop = asyncio.get_running_loop()
            timer = loop.call_later(_HANGS_FOR, held.release.set)
            self._hanging.append((timer, held))
            return held
        if self._asked[job.title] == 1 and mood in _ONCE:
            return _ONCE[mood]
        if self._asked[job.title] == 1 and mood is Mood.INVENTS_ARGUMENTS:
            return calls((job.tool, {"entity_id": "lock.front", "all": [1, None]}))
        return self._work(job, mood, messages, dict(_LINE.findall(said)))

    def _work(
        self, job: Job, mood: Mood, messages: list[Any], states: Mapping[str, str]
    ) -> Any:
        has_called = any(
            call["function"]["name"] == job.tool
            and "lock.front" not in call["function"]["arguments"]
            for message in messages
            for call in message.get("tool_calls", ())
        )
        if has_called and mood is Mood.FAILS_LATE:
            return _ALWAYS[Mood.FAILS]
        if has_called or not job.is_due(states):
            return text("That is all.")
        wanted = [(job.tool, dict(job.arguments))] if job.deed else []
        if not job.deed or self._random.random() < 1 / 2:
            # Never in the same words.
            number = self._random.randrange(10**6)
            wanted.append((TELL_OWNER, {"message": f"{job.title}: note {number}."}))
        return calls(*wanted)
