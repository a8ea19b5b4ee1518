"""The one exception tree of the engine; each error carries a `kind`."""

from collections.abc import Mapping
from enum import StrEnum

from .records import Usage


class ErrorKind(StrEnum):
    """What is wrong with a model or the way to it; `error.kind` of a record."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    LOADING = "loading"
    MODEL_NOT_FOUND = "model_not_found"
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    UNSUPPORTED_PARAMETER = "unsupported_parameter"
    INVALID_RESPONSE = "invalid_response"
    NOT_OPENAI_API = "not_openai_api"
    TIMEOUT = "timeout"
    CONNECTION = "connection"


class Advice(StrEnum):
    """What to do about it: the key of a sentence, in the home's language elsewhere.

    Each kind of error has advice of its own name; the others are for where that would
    mislead. What a sentence needs stands in the error's `placeholders`.
    """

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    LOADING = "loading"
    MODEL_NOT_FOUND = "model_not_found"  # model
    CONTEXT_LENGTH = "context_length"
    BAD_REQUEST = "bad_request"
    UNSUPPORTED_PARAMETER = "unsupported_parameter"
    INVALID_RESPONSE = "invalid_response"
    NOT_OPENAI_API = "not_openai_api"
    TIMEOUT = "timeout"
    CONNECTION = "connection"  # detail

    ADD_V1 = "add_v1"
    ALL_THOUGHT = "all_thought"
    BROKEN_CALL = "broken_call"
    CONTEXT_LIMIT = "context_limit"  # limit
    EMPTY_ANSWER = "empty_answer"
    FILTERED = "filtered"
    INTERNAL = "internal"  # detail
    MODEL_NOT_LISTED = "model_not_listed"  # model, models
    MUST_WAIT = "must_wait"  # seconds
    NAMELESS_CALL = "nameless_call"
    NO_CHOICES = "no_choices"  # keys
    NOT_CHARGED = "not_charged"
    NO_HTTPS = "no_https"
    NO_TOOLS = "no_tools"
    OVERSIZE = "oversize"
    OWN_LIMIT_HIGH = "own_limit_high"  # option, tokens, limit
    OWN_LIMIT_LOW = "own_limit_low"  # option, tokens
    REDIRECTED = "redirected"  # target
    REFUSED_OPTION = "refused_option"  # option
    STILL_LOADING = "still_loading"
    TASK_AUTH = "task_auth"  # entity
    TASK_FAILED = "task_failed"  # entity
    TASK_MISSING = "task_missing"  # entity
    TASK_MODEL = "task_model"  # entity
    TASK_UNAVAILABLE = "task_unavailable"  # entity
    TASK_UNFIT = "task_unfit"  # entity
    TOOLS_OFF = "tools_off"
    UNKNOWN_HOST = "unknown_host"
    UNTRUSTED_CERTIFICATE = "untrusted_certificate"
    WEB_PAGE = "web_page"


class CutReason(StrEnum):
    """What can end a run before the model has finished."""

    TIMEOUT = "timeout"
    TURN_LIMIT = "turn_limit"
    ACTION_LIMIT = "action_limit"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - a kind of token that is no secret
    STOPPED = "stopped"


class RefusalKind(StrEnum):
    """Why the guard did not let an action through."""

    NOT_ALLOWED = "not_allowed"
    NEEDS_APPROVAL = "needs_approval"
    UNAVAILABLE = "unavailable"
    REPEATED = "repeated"
    CHANGED = "changed"
    NOT_WRITTEN = "not_written"
    STOPPED = "stopped"
    FAILED = "failed"


class AgentError(Exception):
    """Anything the engine can tell the outside that went wrong."""

    kind: StrEnum


class ModelError(AgentError):
    """The model gave no usable answer; the run ends with this `kind` (R7).

    `said` is what the server said, on one line and without keys. `retry_after` is in
    seconds, None where the server named no delay; `is_final` says that to ask again
    would not help. `usage` is what was used up all the same, None where nobody knows.
    As a string it is a line for the log.
    """

    kind: ErrorKind

    def __init__(
        self,
        kind: ErrorKind,
        *,
        advice: Advice | None = None,
        said: str = "",
        placeholders: Mapping[str, str] | None = None,
        retry_after: float | None = None,
        is_final: bool = False,
        usage: Usage | None = None,
    ) -> None:
        """Keep what there is to tell; the kind's own advice is the default."""
        self.kind = kind
        self.advice = advice or Advice(kind)
        self.said = said
        self.placeholders = {**(placeholders or {})}
        self.retry_after = retry_after
        self.is_final = is_final
        self.usage = usage
        super().__init__(self._line())

    def refined(
        self,
        *,
        advice: Advice | None = None,
        usage: Usage | None = None,
        **placeholders: str,
    ) -> ModelError:
        """Return the same error by somebody who knows more about it."""
        return ModelError(
            self.kind,
            advice=advice or self.advice,
            said=self.said,
            placeholders={**self.placeholders, **placeholders},
            retry_after=self.retry_after,
            is_final=self.is_final,
            usage=usage or self.usage,
        )

    def _line(self) -> str:
        what = f" ({self.advice})" if self.advice.value != self.kind.value else ""
        known = ", ".join(f"{key} {value}" for key, value in self.placeholders.items())
        return ": ".join(filter(None, (f"{self.kind}{what}", known, self.said)))


class RunCutError(AgentError):
    """The run may not go on; what was done until then stands."""

    kind: CutReason

    def __init__(self, kind: CutReason) -> None:
        """Name the limit that cut the run."""
        super().__init__(kind.value)
        self.kind = kind


class ActionRefusedError(AgentError):
    """An action was not executed; the sentence is for the model (R4)."""

    kind: RefusalKind

    def __init__(self, kind: RefusalKind, message: str) -> None:
        """Keep the kind beside a sentence for the model."""
        super().__init__(message)
        self.kind = kind


class ApprovalFault(StrEnum):
    """Why an answer to a request does nothing (P6), or a yes came to nothing (P4)."""

    NOT_FOUND = "approval_not_found"
    BY_OWN_RUN = "approval_by_own_run"
    ANSWERED = "approval_answered"
    REJECTED = "approval_rejected"
    EXPIRED = "approval_expired"
    WITHDRAWN = "approval_withdrawn"
    NOT_WRITTEN = "approval_not_written"

    CHANGED = "approval_changed"
    FAILED = "approval_failed"
    NOT_ALLOWED = "approval_not_allowed"
    STOPPED = "approval_stopped"
    UNAVAILABLE = "approval_unavailable"


class ApprovalError(AgentError):
    """An answer to a request was not taken (P6)."""

    kind: ApprovalFault

    def __init__(self, kind: ApprovalFault, detail: str = "") -> None:
        """Keep the kind beside what is to be said of it."""
        super().__init__(detail or kind.value)
        self.kind = kind
        self.detail = detail


class NothingDoneError(ApprovalError):
    """A yes was taken and came to nothing, which its owner is told (P4)."""


def own_fault(advice: Advice, **placeholders: str) -> ModelError:
    """Return the error of a run that failed on this side of the line."""
    return ModelError(
        ErrorKind.INVALID_RESPONSE, advice=advice, placeholders=placeholders
    )
