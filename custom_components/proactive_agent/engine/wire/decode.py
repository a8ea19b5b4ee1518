"""An answer of the server → the model's reply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import Advice, ErrorKind, ModelError
from ..records import Reply, ToolSpec
from .calls import (
    Wanted,
    identify,
    read_calls,
    sound_extra,
    structured_calls,
    to_call,
    to_history,
)
from .errors import read_answer, to_error
from .facts import facts_of
from .secrets import quote
from .text import read_content, strip_thinking
from .text_calls import BrokenCallError, find_calls
from .usage import usage_of
from .values import as_dict, as_list, as_text

# Fields of an answer that a server does not take back as part of the history.
_OWN_KEYS: Final = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "annotations"}
    | {"audio"}
)
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
_DONE: Final = frozenset({"stop", "end_turn", "eos", "eos_token", ""})
_FILTERED: Final = ("content_filter", "safety", "blocklist", "prohibited_content")
_MAX_CALLS: Final = 100  # in one turn; a model that wants more has gone astray
_MAX_CONTENT: Final = 500_000  # characters, thinking included


def decode_reply(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    declared_tools: Sequence[ToolSpec],
    *,
    api_key: str = "",
    may_be_silent: bool = False,
) -> Reply:
    """Read an answer as a reply; raises `ModelError` and nothing else.

    An empty answer is an error unless it `may_be_silent`, as after a tool's answer,
    where there may be nothing left to say (R2).

    A call that must not be run, because its arguments cannot be read or its tool does
    not exist, comes with a `fault` for the model (R4); ids are unique in the answer.
    """
    payload = read_answer(status, headers, body, api_key=api_key)

    def blame(error: Any) -> ModelError:
        return to_error(facts_of(status, error), headers, api_key=api_key)

    usage = usage_of(payload)
    try:
        choice = _choose(as_list(as_dict(payload).get("choices")))
        if error := choice.get("error"):
            raise blame({"error": error})
        message = as_dict(choice.get("message"))
        if not message:
            raise _no_message(payload, blame, api_key)
        finish = as_text(choice.get("finish_reason")).lower()
        said = _read(message, declared_tools, cut_off=finish in _CUT)
        _refuse_fragment(said, finish, may_be_silent=may_be_silent and finish in _DONE)
    except ModelError as err:
        raise err.refined(usage=usage) from err
    return Reply(
        text=said.text,
        calls=tuple(map(to_call, said.calls)),
        usage=usage,
        message=_history(message, said),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a message says; `content` is its text as the history keeps it."""

    text: str | None
    calls: tuple[Wanted, ...]
    content: str


def _choose(choices: list[Any]) -> dict[str, Any]:
    """Take the choice that acts: some gateways cut one answer into several choices."""
    found = [as_dict(choice) for choice in choices]
    acting = (
        choice for choice in found if structured_calls(as_dict(choice.get("message")))
    )
    return next(acting, found[0] if found else {})


def _read(
    message: dict[str, Any], tools: Sequence[ToolSpec], *, cut_off: bool
) -> _Said:
    content = read_content(message.get("content"))
    if len(content) > _MAX_CONTENT:
        raise ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.BROKEN_CALL)
    spoken = strip_thinking(content)
    if raw_calls := structured_calls(message):
        wanted = read_calls(raw_calls[: _MAX_CALLS + 1], tools, cut_off=cut_off)
        if not wanted:
            raise ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.NAMELESS_CALL)
    else:
        wanted, spoken = _calls_in_text(spoken, tools)
        content = spoken if wanted else content
    if len(wanted) > _MAX_CALLS:
        raise ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.BROKEN_CALL)
    refusal = as_text(message.get("refusal"))
    text = next((words for words in (spoken, refusal) if words.strip()), None)
    return _Said(text=text, calls=tuple(identify(wanted)), content=content or refusal)


def _calls_in_text(text: str, tools: Sequence[ToolSpec]) -> tuple[list[Wanted], str]:
    try:
        return find_calls(text, tools)
    except BrokenCallError as err:
        raise ModelError(ErrorKind.INVALID_RESPONSE, advice=Advice.BROKEN_CALL) from err


def _refuse_fragment(said: _Said, finish: str, *, may_be_silent: bool) -> None:
    """Raise for an answer that is empty, or calls that a filter may have cut."""
    if finish.startswith(_FILTERED) and (said.calls or said.text is None):
        raise ModelError(ErrorKind.BAD_REQUEST, advice=Advice.FILTERED)
    if not said.calls and said.text is None and not may_be_silent:
        advice = Advice.ALL_THOUGHT if finish in _CUT else Advice.EMPTY_ANSWER
        raise ModelError(ErrorKind.INVALID_RESPONSE, advice=advice)


def _history(message: dict[str, Any], said: _Said) -> dict[str, Any]:
    """Return the message as the server gets it back, with its own fields kept.

    Signatures and reasoning belong to a provider, and it refuses a history without.
    """
    history = {
        **sound_extra(message, _OWN_KEYS),
        "role": "assistant",
        "content": said.content,
    }
    if said.calls:
        history["tool_calls"] = [to_history(call) for call in said.calls]
    return history


def _no_message(
    payload: Any, blame: Callable[[Any], ModelError], api_key: str
) -> ModelError:
    fields = as_dict(payload)
    keys = quote(", ".join(fields), api_key) or "nothing"
    if "choices" in fields or as_text(fields.get("object")).startswith("chat."):
        return ModelError(
            ErrorKind.INVALID_RESPONSE,
            advice=Advice.NO_CHOICES,
            placeholders={"keys": keys},
        )
    error = blame(payload)
    if error.kind is not ErrorKind.INVALID_RESPONSE:
        return error
    return ModelError(ErrorKind.NOT_OPENAI_API, said=keys)
