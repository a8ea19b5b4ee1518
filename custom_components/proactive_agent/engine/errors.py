"""The one exception tree of the engine; each error carries a `kind`."""

from enum import StrEnum


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
    FAILED = "failed"


class AgentError(Exception):
    """Anything the engine can tell the outside that went wrong."""

    kind: StrEnum


class ModelError(AgentError):
    """The model gave no usable answer; the run ends with this `kind` (R7).

    `retry_after` is in seconds, None where the server named no delay.
    """

    kind: ErrorKind

    def __init__(
        self, kind: ErrorKind, message: str, *, retry_after: float | None = None
    ) -> None:
        """Keep the kind beside a sentence for the owner."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after


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
