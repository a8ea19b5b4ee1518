"""What an owner has set up, without what they wrote and where their server is."""

from collections.abc import Mapping
import re
from typing import Any, Final

from homeassistant.components.diagnostics import REDACTED
from homeassistant.const import (
    CONF_ABOVE,
    CONF_ALIAS,
    CONF_API_KEY,
    CONF_ATTRIBUTE,
    CONF_BELOW,
    CONF_ENTITY_ID,
    CONF_LATITUDE,
    CONF_LONGITUDE,
    CONF_MODEL,
    CONF_STATE,
    CONF_URL,
)
from homeassistant.helpers import config_validation as cv
from yarl import URL

from ..const import CONF_CHECK_PROMPT, CONF_CONDITIONS, CONF_EXTRA_BODY
from .sentences import hidden, is_telling_nothing, may_be_compared

_WRITTEN: Final = frozenset({CONF_ALIAS, CONF_LATITUDE, CONF_LONGITUDE})
# What is asked for there may be a code, a word or a place.
_COMPARED: Final = frozenset({CONF_ABOVE, CONF_BELOW, CONF_STATE})
_KEY: Final = re.compile(r"[a-z_]{1,40}")
_FIELD: Final = re.compile(r"[A-Za-z_$-]{1,40}")
# Parts of the paths of well-known servers; others may be an account or a key.
_PATH: Final = re.compile(
    r"v\d(?:alpha|beta)?|api|openai|chat|engines|llama\.cpp|inference|paas|serverless"
    r"|compatible-mode|compat|openapi"
)
_WORDS_OF_A_MODEL: Final = frozenset(
    {"auto", "default", "flex", "high", "low", "medium", "minimal", "none", "off"}
)
_LARGEST: Final = 10_000_000  # what is larger is an account rather than a setting


def heartbeat_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a heartbeat, without its owner's words."""
    told = dict(data)
    told[CONF_CHECK_PROMPT] = hidden(data.get(CONF_CHECK_PROMPT))
    if CONF_CONDITIONS in data:
        told[CONF_CONDITIONS] = _conditions(data[CONF_CONDITIONS])
    return told


def endpoint_options(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of an endpoint, without its address and its key."""
    told = dict(data)
    if data.get(CONF_API_KEY):
        told[CONF_API_KEY] = REDACTED
    if CONF_URL in data:
        told[CONF_URL] = _address(data[CONF_URL])
    if CONF_EXTRA_BODY in data:
        told[CONF_EXTRA_BODY] = _body(data[CONF_EXTRA_BODY])
    return told


def models_in(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model that is chosen, if one is."""
    return {key: data[key] for key in (CONF_MODEL,) if key in data}


def shape_told(value: Any) -> Any:
    """Return how requests differ; what looks like no field of them is hidden."""
    match value:
        case Mapping():
            return {key: shape_told(one) for key, one in value.items()}
        case list():
            return [shape_told(one) for one in value]
        case str() if not _FIELD.fullmatch(value):
            return REDACTED
    return value


def _conditions(raw: Any) -> Any:
    match raw:
        case Mapping():
            return {
                key: _conditions(one) if _may_be_told(key, raw) else hidden(one)
                for key, one in raw.items()
            }
        case list() | tuple():
            return [_conditions(one) for one in raw]
        case str() if not is_telling_nothing(raw):
            return hidden(raw)
    return raw


def _may_be_told(key: str, condition: Mapping[str, Any]) -> bool:
    if key not in _COMPARED:
        return key not in _WRITTEN
    is_attribute = key == CONF_STATE and CONF_ATTRIBUTE in condition
    named = [] if is_attribute else cv.ensure_list(condition.get(CONF_ENTITY_ID))
    domains = {str(one).partition(".")[0] for one in named}
    return may_be_compared(condition[key], domains)


def _body(raw: Any) -> Any:
    match raw:
        case Mapping():
            return {
                key if _KEY.fullmatch(str(key)) else REDACTED: _body(one)
                for key, one in raw.items()
            }
        case list() | tuple():
            return [_body(one) for one in raw]
        case bool() | None:
            return raw
        case int() | float() if abs(raw) < _LARGEST:
            return raw
        case str() if raw in _WORDS_OF_A_MODEL:
            return raw
    return REDACTED


def _address(url: str) -> str:
    """Keep of an address what can be wrong with it: scheme, port and known paths."""
    try:
        parsed = URL(url)
        port = parsed.explicit_port
    except ValueError:
        return REDACTED
    path = "/".join(
        part if not part or _PATH.fullmatch(part) else REDACTED
        for part in parsed.path.split("/")
    )
    return f"{parsed.scheme}://{REDACTED}{f':{port}' if port else ''}{path}"
