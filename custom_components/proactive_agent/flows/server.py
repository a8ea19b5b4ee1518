"""What the endpoint's flow asks of a server, and which field its answer belongs to."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from homeassistant.const import CONF_API_KEY, CONF_MODEL, CONF_URL, CONF_VERIFY_SSL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .. import const as c
from ..endpoint.endpoint import EndpointClient
from ..engine.errors import Advice, ErrorKind, ModelError
from ..models import EndpointOptions

MODELS_TIMEOUT: Final = 3.0  # seconds
_WITHOUT_TOOLS: Final = frozenset({Advice.NO_TOOLS, Advice.TOOLS_OFF})

OWN_KEYS: Final = frozenset({"model", "messages", "tools", "stream"})

# The kinds of error that an address or a key is to blame for: field and error.
SERVER_ERRORS: Final[Mapping[ErrorKind, tuple[str, str]]] = {
    ErrorKind.AUTH: (CONF_API_KEY, "invalid_auth"),
    ErrorKind.CONNECTION: (CONF_URL, "cannot_connect"),
    ErrorKind.TIMEOUT: (CONF_URL, "timeout_connect"),
    ErrorKind.NOT_OPENAI_API: (CONF_URL, "not_openai_api"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the API was found, and the models it names; empty if it names none."""

    url: str
    models: tuple[str, ...] = ()


def entered_errors(entered: Mapping[str, Any]) -> dict[str, str]:
    """Return what can be said of model and options before anything is sent."""
    if not entered[CONF_MODEL].strip():
        return {CONF_MODEL: "model_required"}
    options = entered.get(c.CONF_EXTRA_BODY) or {}
    if not isinstance(options, dict):
        return {c.CONF_EXTRA_BODY: "options_no_object"}
    if OWN_KEYS & options.keys():
        return {c.CONF_EXTRA_BODY: "options_reserved"}
    return {}


async def async_find_server(hass: HomeAssistant, draft: Mapping[str, Any]) -> Server:
    """Look for the API at the draft's URL and below it.

    Raises a `ModelError` of one of the kinds in `SERVER_ERRORS`.
    """
    try:
        return await _async_look(hass, draft)
    except ModelError as err:
        url = draft[CONF_URL]
        if err.kind is not ErrorKind.NOT_OPENAI_API or url.endswith("/v1"):
            raise
        as_given = err
    try:
        return await _async_look(hass, {**draft, CONF_URL: f"{url}/v1"})
    except ModelError as err:
        if err.kind is ErrorKind.NOT_OPENAI_API:
            # The address as it was entered is what the owner wants to read about.
            raise as_given from err
        raise


async def async_probe(hass: HomeAssistant, draft: Mapping[str, Any]) -> None:
    """Have the model answer one tiny request with a tool; raises `ModelError`."""
    await _client(hass, _options(draft)).probe_tools()


async def async_probe_another(
    hass: HomeAssistant, endpoint: EndpointOptions, model: str
) -> None:
    """Have another model on the same server do so; raises `ModelError`."""
    await _client(hass, replace(endpoint, model=model)).probe_tools()


async def async_models(hass: HomeAssistant, endpoint: EndpointOptions) -> list[str]:
    """Return what a server offers, if it says so while a form may be waited for."""
    try:
        async with asyncio.timeout(MODELS_TIMEOUT):
            return await _client(hass, endpoint).list_models()
    except ModelError, TimeoutError:
        return []


def is_models_fault(err: ModelError) -> bool:
    """Say whether another model is needed, whatever else may be wrong."""
    return err.kind is ErrorKind.MODEL_NOT_FOUND or err.advice in _WITHOUT_TOOLS


def server_error(err: ModelError) -> tuple[str, str]:
    """Return field and error for a server that was not found."""
    if err.advice is Advice.UNTRUSTED_CERTIFICATE:
        return CONF_VERIFY_SSL, "cannot_connect"
    return SERVER_ERRORS[err.kind]


def model_error(err: ModelError, draft: Mapping[str, Any]) -> tuple[str, str]:
    """Return field and error for a failed probe; the field may be the server's."""
    match err.kind:
        case ErrorKind.CONNECTION | ErrorKind.TIMEOUT:
            # The server has just answered: the address is not what is wrong.
            return "base", SERVER_ERRORS[err.kind][1]
        case kind if kind in SERVER_ERRORS:
            return SERVER_ERRORS[kind]
        case ErrorKind.MODEL_NOT_FOUND:
            return CONF_MODEL, "model_not_found"
        case _ if err.advice in _WITHOUT_TOOLS:
            return CONF_MODEL, "no_tools"
        case ErrorKind.UNSUPPORTED_PARAMETER | ErrorKind.BAD_REQUEST if draft[
            c.CONF_EXTRA_BODY
        ]:
            return c.CONF_EXTRA_BODY, "options_refused"
        case _:
            return "base", "model_error"


async def _async_look(hass: HomeAssistant, draft: Mapping[str, Any]) -> Server:
    client = _client(hass, _options(draft))
    try:
        models = await client.list_models()
    except ModelError as err:
        # A key may be good for chats alone, and some lists want theirs another way.
        if err.kind in (ErrorKind.NOT_OPENAI_API, ErrorKind.AUTH):
            await _async_check_chat(client)
        elif err.kind in SERVER_ERRORS:
            raise
        models = []
    return Server(url=draft[CONF_URL], models=tuple(models))


async def _async_check_chat(client: EndpointClient) -> None:
    """Find out whether a server that shows no list of models can chat at all.

    Any complaint will do, but for those that belong to the address or the key.
    """
    try:
        await client.probe_tools()
    except ModelError as err:
        if err.kind in SERVER_ERRORS:
            raise


def _options(draft: Mapping[str, Any]) -> EndpointOptions:
    return EndpointOptions(
        url=draft[CONF_URL],
        model=draft.get(CONF_MODEL, ""),
        api_key=draft[CONF_API_KEY],
        verify_ssl=draft[CONF_VERIFY_SSL],
        extra_body=draft.get(c.CONF_EXTRA_BODY, {}),
    )


def _client(hass: HomeAssistant, options: EndpointOptions) -> EndpointClient:
    session = async_get_clientsession(hass, verify_ssl=options.verify_ssl)
    return EndpointClient(session, options)
