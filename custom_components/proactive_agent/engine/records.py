"""The values that travel between the rooms; all of them frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
import json

type Json = bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None
type JsonObject = Mapping[str, Json]

# The error of an action that was waited for as long as one may be, and goes on (R8).
NOT_ENDED = "it did not end within 10 minutes; it may still be running"
# The error of an action that Home Assistant's own end has cut off.
CUT_OFF = "It was cut off."


class Cause(StrEnum):
    """What woke the heartbeat."""

    TICK = "tick"
    MANUAL = "manual"


class Status(StrEnum):
    """What a heartbeat is doing (docs/reference.md)."""

    OFF = "off"
    ASLEEP = "asleep"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"


class Outcome(StrEnum):
    """How a run ended, the first that fits (docs/reference.md)."""

    TIMEOUT = "timeout"
    TURN_LIMIT = "turn_limit"
    ACTION_LIMIT = "action_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a kind of token that is no secret
    STOPPED = "stopped"
    ERROR = "error"
    ACTED = "acted"
    WAITING = "waiting"
    SPOKE = "spoke"
    NOTHING = "nothing"


class StopCause(StrEnum):
    """What has stopped a run from outside."""

    SWITCHED_OFF = "switched_off"
    UNLOADED = "unloaded"  # reloaded, removed, or with Home Assistant
    CUT_OFF = "cut_off"  # Home Assistant ended without a word


class ActionStatus(StrEnum):
    """What became of one action."""

    DONE = "done"
    ALREADY = "already"
    FAILED = "failed"
    WAITING = "waiting"
    STILL_RUNNING = "still_running"
    NOT_DONE = "not_done"  # only in a dry run: it would have been called


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema object.

    `length` is how many characters it takes as JSON.
    """

    name: str
    description: str
    parameters: JsonObject
    length: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Measure it once, for it is the greater part of each request."""
        told = [self.name, self.description, self.parameters]
        text = json.dumps(told, ensure_ascii=False, default=str)
        object.__setattr__(self, "length", len(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call the model asked for; `fault` says why `arguments` is unreadable."""

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool call gave; an error is a sentence in `content` (R4)."""

    content: Json
    error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of a request or a run; `estimated` where the server did not say."""

    prompt: int = 0
    completion: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """All tokens together."""
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        """Sum two usages; one estimate makes the sum an estimate."""
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            estimated=self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer of the model.

    `message` is the assistant message as it goes back into the history.
    """

    text: str | None
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    message: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One tool call of a run with its answer, for the owner to read.

    `seconds` is how long the answer took.
    """

    turn: int
    tool: str
    arguments: JsonObject
    answer: Json
    error: bool
    seconds: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One request of a run and its answer.

    `seconds` is how long the answer took, `tokens` None where nobody said what was
    used, `text` what the model wrote beside its calls.
    """

    turn: int
    seconds: float
    tokens: Usage | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    """One Home Assistant action of a run and what was seen after it.

    `note` says in words what then was otherwise than asked (A5), `answered_by` who
    said yes or no to it, if it was asked for (P1).
    """

    action: str
    entity_id: tuple[str, ...]
    data: JsonObject
    status: ActionStatus
    observed: JsonObject | None = None
    error: str | None = None
    note: str | None = None
    answered_by: str | None = None

    @property
    def was_asked(self) -> bool:
        """Whether its owner was asked, and may have answered (P1)."""
        return self.status is ActionStatus.WAITING or self.answered_by is not None

    @property
    def may_go_on(self) -> bool:
        """Whether its end has not been seen, so that nobody may tell of one (S2)."""
        return self.status is ActionStatus.STILL_RUNNING or self.error == NOT_ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What one condition said and why; `result` is None if it cannot be judged."""

    condition: str
    result: bool | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why the model failed; `kind` is one of `ErrorKind`."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything about one run, as `wake` and `get_runs` answer it.

    `seconds` is how long it took, `tokens` None where nobody said what was used,
    `not_sent` why a message was not sent, `warning` the name of something that the
    owner should mend although the run did not fail of it. `seen` is what the model
    was shown of the home, a line each, and `stop_reason` why the heartbeat went off
    or the run was stopped. `shortened` names the keys of which something was cut.
    """

    run_id: str
    started: datetime
    cause: Cause
    outcome: Outcome
    error: RunError | None
    gate: tuple[GateVerdict, ...]
    actions: tuple[ActionRecord, ...]
    message: str | None
    turns: int
    tokens: Usage | None
    seconds: float
    calls: tuple[CallRecord, ...]
    stopped: bool
    answer: str | None = None
    dry_run: bool = False
    delivery_failed: tuple[str, ...] = ()
    delivery_waiting: tuple[str, ...] = ()
    not_sent: str | None = None
    warning: str | None = None
    seen: tuple[str, ...] = ()
    each_turn: tuple[TurnRecord, ...] = ()
    stop_reason: str | None = None
    shortened: tuple[str, ...] = ()
