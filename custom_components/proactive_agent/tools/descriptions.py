"""The descriptions of all actions, also where Home Assistant cannot read them."""

from collections.abc import Iterable, Mapping
from importlib import import_module
import logging
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant, SupportsResponse
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.selector import TargetSelector
from homeassistant.helpers.service import (
    async_get_all_descriptions,
    async_get_cached_service_description,
)
from homeassistant.loader import Integration, async_get_integrations
from homeassistant.util.yaml import load_yaml_dict
import probatio

_LOGGER = logging.getLogger(__name__)

# Whatever a file of any integration may hold instead of a description.
_UNREADABLE = (
    AttributeError,
    ImportError,
    KeyError,
    TypeError,
    ValueError,
    probatio.Invalid,
)

type Descriptions = Mapping[str, Mapping[str, Mapping[str, Any]]]


async def async_descriptions(hass: HomeAssistant) -> Descriptions:
    """Return what Home Assistant says of its actions: {domain: {action: …}}.

    Home Assistant reads none of its files if one of its base components lacks a
    package. Then each file is read by itself, and costs only its own actions.
    """
    try:
        return await async_get_all_descriptions(hass)
    except ImportError as err:
        _LOGGER.debug("The descriptions are read one by one: %s", err)
    domains = hass.services.async_services().keys()
    integrations = [
        found
        for found in (await async_get_integrations(hass, domains)).values()
        if isinstance(found, Integration)
    ]
    files = await hass.async_add_executor_job(_read_files, integrations)
    return {
        domain: _described(hass, domain, files.get(domain, {})) for domain in domains
    }


def _described(
    hass: HomeAssistant, domain: str, file: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    described: dict[str, dict[str, Any]] = {}
    for name, action in hass.services.async_services_for_domain(domain).items():
        if own := async_get_cached_service_description(hass, domain, name):
            described[name] = own
            continue
        one = {"fields": {}, **file.get(name, {})}
        if action.description_placeholders:
            one["description_placeholders"] = action.description_placeholders
        if action.supports_response is not SupportsResponse.NONE:
            optional = action.supports_response is SupportsResponse.OPTIONAL
            one["response"] = {"optional": optional}
        described[name] = one
    return described


def _read_files(integrations: Iterable[Integration]) -> dict[str, dict[str, Any]]:
    return {one.domain: _read_file(one.file_path) for one in integrations}


def _read_file(folder: Path) -> dict[str, Any]:
    try:
        actions = load_yaml_dict(str(folder / "services.yaml"))
    except (FileNotFoundError, HomeAssistantError) as err:
        _LOGGER.debug("No descriptions in %s: %s", folder.name, err)
        return {}
    resolved: dict[str, Any] = {}
    for name, action in actions.items():
        try:
            resolved[name] = _resolve_action(action or {})
        except _UNREADABLE:
            _LOGGER.debug("%s.%s cannot be described", folder.name, name, exc_info=True)
    return resolved


def _resolve_action(action: Mapping[str, Any]) -> dict[str, Any]:
    resolved = {**action, "fields": _resolve_fields(action.get("fields") or {})}
    if "target" in action:
        resolved["target"] = TargetSelector.CONFIG_SCHEMA(action["target"])
    return resolved


def _resolve_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    for name, field in fields.items():
        one = {**(field or {})}
        if "fields" in one:
            one["fields"] = _resolve_fields(one["fields"])
        if "filter" in one:
            one["filter"] = _resolve_filter(one["filter"])
        resolved[name] = one
    return resolved


def _resolve_filter(wanted: Mapping[str, Any]) -> dict[str, Any]:
    resolved = {**wanted}
    if "supported_features" in wanted:
        resolved["supported_features"] = [*map(_member, wanted["supported_features"])]
    if "attribute" in wanted:
        resolved["attribute"] = {
            name: [_member(option) for option in options]
            for name, options in wanted["attribute"].items()
        }
    return resolved


def _member(path: str) -> Any:
    """Return the value of `domain.Enum.MEMBER` of a base component."""
    domain, enum, member = path.split(".", 2)
    return getattr(import_module(f"homeassistant.components.{domain}"), enum)[
        member
    ].value
