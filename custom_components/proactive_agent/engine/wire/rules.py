"""The rules by which one fault is told from another; the first that fits counts.

The same fault in another provider's words has to come out the same, so the code and
the sentence of an error are searched together, and the status decides what is left.
"""

from collections.abc import Container
from dataclasses import dataclass
import re
from typing import Final

from ..errors import Advice, ErrorKind
from .facts import Facts

_TOOLS: Final = re.compile(r"\b(?:tools?|functions?|function calling)\b")
_TOOLS_OFF: Final = re.compile(
    r"enable-auto-tool-choice|tool-call-parser|(?:is|are) (?:currently )?(?:not |un)"
    r"enabled|--jinja"
)
_ANY: Final = range(1000)
_AWAY: Final = range(300, 400)
_FINE: Final = range(300)
_FAILED: Final = range(500, 1000)
_BUSY: Final = frozenset({401, 429, 502, 503, 504, 529})
_CALM: Final = frozenset(_ANY) - _BUSY


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of error: where its words stand, on one of these statuses."""

    kind: ErrorKind
    words: str = ""
    on: Container[int] = _ANY

    def fits(self, status: int, text: str) -> bool:
        """Say whether an error is of this kind."""
        return status in self.on and re.search(self.words, text) is not None


_RULES: Final = (
    Rule(
        ErrorKind.INVALID_RESPONSE,
        r"tool_use_failed|failed_generation|error parsing tool call"
        r"|failed to parse input at pos|malformed.function.call"
        r"|failed to call a function",
    ),
    Rule(
        ErrorKind.BAD_REQUEST,
        r"failed to parse tool call arguments|item pairs from a mapping"
        r"|function\.arguments.{0,60}json",
    ),
    Rule(
        ErrorKind.CONTEXT_LENGTH,
        r"context_length_exceeded|exceed_context_size|maximum model length"
        r"|context (?:size|window|limit|length)|(?:prompt|input|request) (?:is )?too l"
        r"|prompt token count|input token count|too many input tokens"
        r"|tokens in the prompt|inputs`? must have less|inputs`? tokens \+"
        r"|exceeds? the (?:maximum|max) (?:number of|input) tokens",
    ),
    Rule(ErrorKind.CONTEXT_LENGTH, on=(413,)),
    Rule(
        ErrorKind.UNSUPPORTED_PARAMETER,
        r"(?:not|n't) support (?:the )?(?:use of )?(?:tools?|functions?)\b"
        r"|(?:tools?(?:[ _](?:use|call(?:s|ing)?|choice))?|function calling)['\"`]?"
        r" (?:is|are) (?:currently )?(?:not |un)(?:supported|available|enabled)"
        r"|unsupported parameter: ['\"`]tool|that support tool use"
        r"|handle the requested parameters"
        r"|tool choice requires|enable-auto-tool-choice|requires --jinja",
    ),
    Rule(
        ErrorKind.MODEL_NOT_FOUND,
        r"model_not_(?:found|exist|supported|available)|invalid_model"
        r"|deploymentnotfound|model_decommissioned|not_found_error.{0,20}\bmodel\b"
        r"|(?:unknown|no such) model|not a valid model|model identifier is invalid"
        r"|invalid model(?: name| id| specified|:|$)|access (?:to (?:the )?)?model\b"
        r"|\bmodels?\b.{0,120}?(?:not found|not exist|not available|not loaded"
        r"|no longer (?:supported|available)|decommissioned|unloaded"
        r"|not supported by provider)"
        r"|not found the model|requested model .{0,80}not supported"
        r"|(?:available|router) for (?:the )?(?:selected|requested) model"
        r"|llm provider not provided"
        r"|suitable inference handler|function '[^']+': not found|模型不存在"
        r"|no models? loaded|no endpoints found|try pulling",
        on=_CALM,
    ),
    Rule(ErrorKind.QUOTA, on=(402,)),
    Rule(
        ErrorKind.QUOTA,
        r"insufficient[_ ](?:quota|balance|credit|fund)|credit balance"
        r"|balance is insufficient|not have (?:any |enough )?credits"
        r"|have any credits|used all available credits|exceeded_current_quota_error"
        r"|billing_(?:hard_limit|not_active)|(?:more|out of|no) credits"
        r"|payment required|key limit exceeded|spend(?:ing)? limit|in arrears|arrearage"
        r"|specified (?:api )?usage limit"
        r"|budget.{0,12}exceeded|requires? an? (?:\w+ )?subscription|余额不足",
    ),
    Rule(
        ErrorKind.AUTH,
        r"invalid_api_key|api_key_invalid|authentication_error|invalid_authentication"
        r"|api key not valid|(?:incorrect|invalid|missing|no) (?:api|auth)[ _-]?"
        r"(?:key|token|cred)|unauthori[sz]ed",
        on=_CALM,
    ),
    Rule(ErrorKind.AUTH, on=(401,)),
    Rule(
        ErrorKind.UNSUPPORTED_PARAMETER,
        r"unsupported[_ ](?:parameter|value)|extra_forbidden"
        r"|extra (?:inputs|fields) (?:are )?not permitted"
        r"|unrecognized (?:request )?(?:argument|parameter|key)"
        r"|(?:unknown|unexpected) (?:parameter|field|keyword|argument)"
        r"|unsupportedparams|\bis unsupported\b|no such (?:field|parameter)"
        r"|additional propert\w+ (?:are )?not|(?:argument|parameter) not supported"
        r"|(?:not|n't) support (?:the )?(?:following )?(?:parameter|argument|option)"
        r"|not supported (?:with|by|for|on) th(?:is|e) (?:model|server)"
        r"|deprecated for this model|cannot both be specified",
        on=_CALM,
    ),
    Rule(
        ErrorKind.LOADING,
        r"loading (?:the )?model|(?:currently|still|is) loading"
        r"|model is (?:starting|warming|not ready)",
        on=(*_FINE, *_FAILED),
    ),
    Rule(ErrorKind.RATE_LIMIT, on=(429,)),
    Rule(
        ErrorKind.RATE_LIMIT,
        r"rate[ _-]?limit|too many requests|resource_?exhausted|throttl",
    ),
    Rule(ErrorKind.AUTH, on=(403,)),
    Rule(ErrorKind.TIMEOUT, on=(408,)),
    Rule(ErrorKind.NOT_OPENAI_API, on=(*range(300, 400), 404, 405, 501)),
    Rule(ErrorKind.OVERLOADED, on=_FAILED),
    Rule(
        ErrorKind.OVERLOADED,
        r"overloaded|at capacity|server (?:is )?(?:busy|error)|server_error"
        r"|unavailable|bad gateway",
        on=_FINE,
    ),
    Rule(
        ErrorKind.NOT_OPENAI_API,
        r"unexpected endpoint|(?:unknown|invalid) (?:url|route|endpoint|path)"
        r"|not found|not allowed",
        on=_FINE,
    ),
    Rule(ErrorKind.BAD_REQUEST, r"invalid_request|bad_?request|invalid_arg", on=_FINE),
)
# Words of OpenAI's for an empty account, which Gemini uses for a full minute.
_SPENT: Final = Rule(ErrorKind.QUOTA, r"exceeded your current quota")


def diagnose(facts: Facts, *, has_delay: bool) -> tuple[ErrorKind, Advice]:
    """Return the kind of an error, and the advice that fits.

    `has_delay` says that the server named a time after which it may be asked again.
    """
    text = f"{facts.words} {facts.message}".lower()
    kind = _kind(facts, text, has_delay=has_delay)
    if kind is ErrorKind.UNSUPPORTED_PARAMETER:
        if _TOOLS_OFF.search(text):
            return kind, Advice.TOOLS_OFF
        if _TOOLS.search(f"{text} {facts.parameter}"):
            return kind, Advice.NO_TOOLS
    if kind is ErrorKind.NOT_OPENAI_API and facts.is_html and facts.status not in _AWAY:
        return kind, Advice.WEB_PAGE
    return kind, Advice(kind)


def _kind(facts: Facts, text: str, *, has_delay: bool) -> ErrorKind:
    if not has_delay and _SPENT.fits(facts.status, text):
        return ErrorKind.QUOTA
    rule = next((rule for rule in _RULES if rule.fits(facts.status, text)), None)
    return _by_form(facts) if rule is None else rule.kind


def _by_form(facts: Facts) -> ErrorKind:
    """Judge an answer by its form, where no word and no status tells."""
    if facts.status >= 400:  # noqa: PLR2004
        return ErrorKind.BAD_REQUEST if facts.is_json else ErrorKind.NOT_OPENAI_API
    if facts.is_html or (facts.message and not facts.is_json):
        return ErrorKind.NOT_OPENAI_API
    return ErrorKind.INVALID_RESPONSE
