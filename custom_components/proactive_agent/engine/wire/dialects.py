"""How models write tool calls when their server leaves them in the text.

Each dialect is an envelope with a body. A dialect only cuts: what is inside is read
by the same rules as a structured call.
"""

# ruff: noqa: RUF001 - some marks of models use bars of another alphabet

from collections.abc import Callable, Iterator
from dataclasses import dataclass
import re
from typing import Any, Final

from .values import as_dict, as_text, read_value, skip_blanks

_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args")
_CALL_KEYS: Final = frozenset({"name", "type", "id", *_ARGUMENT_KEYS})
_FUNCTION: Final = re.compile(
    r"""<(?:function=|invoke\s+name=)["']?([^"'>]{1,64})["']?>(.*?)"""
    r"(?:</(?:function|invoke)>|\Z)",
    re.DOTALL,
)
_PARAMETER: Final = re.compile(
    r"""<parameter(?:=|\s+name=)["']?([^"'>]{1,64})["']?>(.*?)</parameter>""", re.DOTALL
)
_GLM_ARGUMENT: Final = re.compile(
    r"<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL
)
_NAME: Final = r"([\w.-]{1,64})(?![\w.-])"
_GLM: Final = re.compile(rf"\s*{_NAME}\s*((?:<arg_key>.*</arg_value>)?)\s*", re.DOTALL)
_DEEPSEEK: Final = re.compile(
    rf"\s*(?:function<｜tool▁sep｜>)?{_NAME}\s*(?:<｜tool▁sep｜>)?\s*(.*)", re.DOTALL
)
_KIMI: Final = re.compile(
    rf"\s*{_NAME}(?::\d+)?\s*<\|tool_call_argument_begin\|>(.*)", re.DOTALL
)
_HARMONY: Final = re.compile(rf"{_NAME}[^{{}}]*?<\|message\|>(.*)", re.DOTALL)
_MISTRAL: Final = re.compile(rf"\s*{_NAME}(?:\[CALL_ID\]\w+)?\s*(?:\[ARGS\])?\s*(?={{)")


class NoCallError(ValueError):
    """The text is no whole call of this dialect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A call cut out of a text; values of an XML form are still `untyped` text."""

    name: str
    arguments: Any
    untyped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """An envelope: `opener` starts it, `closer` ends it, `read` reads the body."""

    opener: re.Pattern[str]
    closer: re.Pattern[str]
    read: Callable[[str], list[Written]]


def read_json_calls(body: str) -> list[Written]:
    """Read `{"name": …, "arguments": …}`, several, a list of them, or fenced."""
    values = list(_values(_unfenced(body)))
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if not values:
        raise NoCallError("empty")
    return [_call(value) for value in values]


def _unfenced(text: str) -> str:
    text = text.strip()
    if not text.startswith("```") or not text.endswith("```"):
        return text
    return text[3:-3].removeprefix("json").removeprefix("tool_call")


def _values(text: str) -> Iterator[Any]:
    position = skip_blanks(text, 0)
    while position < len(text):
        try:
            value, position = read_value(text, position)
        except ValueError as err:
            raise NoCallError("no JSON") from err
        yield value
        position = skip_blanks(text, position)
        if text.startswith(";", position):
            position = skip_blanks(text, position + 1)


def _call(value: Any) -> Written:
    fields = as_dict(value)
    if isinstance(fields.get("function"), dict):
        fields = fields["function"]
    keys = [key for key in _ARGUMENT_KEYS if key in fields]
    name = as_text(fields.get("name"))
    if not name or len(keys) != 1 or not fields.keys() <= _CALL_KEYS:
        raise NoCallError("no call")
    arguments = fields[keys[0]]
    return Written(name=name, arguments={} if arguments in ("", None) else arguments)


def _read_envelope(body: str) -> list[Written]:
    if "<function=" in body or "<invoke" in body:
        return _read_functions(body)
    glm = _GLM.fullmatch(body)
    if glm is None:
        return read_json_calls(body)
    _refuse_unpaired(body, "arg_key", "arg_value")
    arguments = {key.strip(): value for key, value in _GLM_ARGUMENT.findall(body)}
    if body.count("<arg_key>") != len(arguments):
        raise NoCallError("a key without a value")
    return [Written(name=glm[1], arguments=arguments, untyped=True)]


def _read_functions(body: str) -> list[Written]:
    if _FUNCTION.sub("", body).strip():
        raise NoCallError("more than calls")
    return [_function(name.strip(), inner) for name, inner in _FUNCTION.findall(body)]


def _function(name: str, inner: str) -> Written:
    if not inner.strip() or inner.lstrip().startswith(("{", "[", '"')):
        return Written(name=name, arguments=inner)
    _refuse_unpaired(inner, "parameter")
    if _PARAMETER.sub("", inner).strip():
        raise NoCallError("a broken parameter")
    arguments = {
        key.strip(): value.removeprefix("\n").removesuffix("\n")
        for key, value in _PARAMETER.findall(inner)
    }
    return Written(name=name, arguments=arguments, untyped=True)


def _refuse_unpaired(body: str, *tags: str) -> None:
    """Refuse what is cut off; matching it would also take time by its square."""
    for tag in tags:
        if len(re.findall(rf"<{tag}\b", body)) != body.count(f"</{tag}>"):
            raise NoCallError(f"an open {tag}")


def _read_by(pattern: re.Pattern[str]) -> Callable[[str], list[Written]]:
    def read(body: str) -> list[Written]:
        match = pattern.fullmatch(body)
        if match is None:
            raise NoCallError("another form")
        return [Written(name=match[1], arguments=match[2])]

    return read


def _read_mistral(body: str) -> list[Written]:
    if body.lstrip().startswith("["):
        return read_json_calls(body)
    written: list[Written] = []
    for part in body.split("[TOOL_CALLS]"):
        match = _MISTRAL.match(part)
        if match is None:
            raise NoCallError("another form")
        written.append(Written(name=match[1], arguments=part[match.end() :]))
    return written


def _dialect(opener: str, closer: str, read: Callable[[str], list[Written]]) -> Dialect:
    return Dialect(opener=re.compile(opener), closer=re.compile(closer), read=read)


_END: Final = r"<\|e(?:om|ot)_id\|>|</s>|\Z"
DIALECTS: Final = (
    _dialect(
        "<tool_call>|<function_call>", "</(?:tool|function)_call>", _read_envelope
    ),
    _dialect("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", _read_by(_DEEPSEEK)),
    _dialect(r"<\|tool_call_begin\|>", r"<\|tool_call_end\|>", _read_by(_KIMI)),
    _dialect(
        r"(?:<\|start\|>assistant)?<\|channel\|>commentary to=",
        r"<\|call\|>|\Z",
        _read_by(_HARMONY),
    ),
    _dialect(r"\[TOOL_CALLS\]", r"</s>|\Z", _read_mistral),
    _dialect(r"<\|python_tag\|>", _END, read_json_calls),
    _dialect(
        r"""(?=<(?:function=|invoke\s+name=))""",
        "</function>|</invoke>",
        _read_functions,
    ),
)
