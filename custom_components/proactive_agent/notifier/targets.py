"""Who hears a message, and the way to each of them right now (S5, P2)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from homeassistant.components.notify import NotifyEntityFeature
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_SUPPORTED_FEATURES, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util import slugify

NOTIFY = "notify"
# By its name only: importing the integration would bring half of the others along.
_MOBILE_APP = "mobile_app"
_GROUPS = "homeassistant.components.group.notify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """One that hears a message once, by whichever of its targets.

    `phone` is the action that shows buttons on it, where it is a phone.
    """

    targets: tuple[str, ...]
    phone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """An action of `notify` that leads to a recipient, and what it can carry.

    Of a `group` nobody learns what has arrived.
    """

    action: str
    entity_id: str | None = None
    takes_title: bool = True
    takes_data: bool = False
    group: tuple[str, ...] = ()


def recipients_of(hass: HomeAssistant, targets: Iterable[str]) -> tuple[Recipient, ...]:
    """Return who is meant: entity and action of one phone are one recipient."""
    found: dict[str, Recipient] = {}
    phones = _phones(hass)
    for target in dict.fromkeys(targets):
        phone = _phone_of(hass, target, phones)
        key = phone or target
        before = found[key].targets if key in found else ()
        found[key] = Recipient(targets=(*before, target), phone=phone)
    return tuple(found.values())


def phones_of_user(hass: HomeAssistant, user_id: str) -> tuple[Recipient, ...]:
    """Return the phones on which this user has signed in."""
    return tuple(
        Recipient(targets=(f"{NOTIFY}.{action}",), phone=action)
        for entry_id, action in _phones(hass).items()
        if (entry := hass.config_entries.async_get_entry(entry_id)) is not None
        and entry.data.get("user_id") == user_id
    )


def way_to(hass: HomeAssistant, recipient: Recipient, *, data: bool) -> Way | None:
    """Return the way that leads there now, the best one for `data`; None for none."""
    if data and recipient.phone and hass.services.has_service(NOTIFY, recipient.phone):
        return Way(action=recipient.phone, takes_data=True)
    ways = (_way_by(hass, target) for target in recipient.targets)
    return next((way for way in ways if way is not None), None)


def is_complete(hass: HomeAssistant, recipient: Recipient, *, data: bool) -> bool:
    """Say whether nothing is missing that may still be loading."""
    way = way_to(hass, recipient, data=data)
    if way is None:
        return False
    if data and recipient.phone:
        return way.takes_data
    return all(hass.services.has_service(NOTIFY, member) for member in way.group)


def _way_by(hass: HomeAssistant, target: str) -> Way | None:
    if _is_entity(hass, target):
        return _way_by_entity(hass, target)
    action = target.removeprefix(f"{NOTIFY}.")
    if not hass.services.has_service(NOTIFY, action):
        return None
    group = _members(hass, action)
    # Others refuse data that they do not know, and are no place for what it holds.
    only_phones = all(map(_is_phone, group or (action,)))
    return Way(action=action, takes_data=only_phones, group=group)


def _way_by_entity(hass: HomeAssistant, entity_id: str) -> Way | None:
    state = hass.states.get(entity_id)
    # A missing entity would count as told: its action succeeds silently.
    if state is None or state.state == STATE_UNAVAILABLE:
        return None
    features = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
    return Way(
        action="send_message",
        entity_id=entity_id,
        takes_title=bool(features & NotifyEntityFeature.TITLE),
    )


def _is_entity(hass: HomeAssistant, target: str) -> bool:
    # An entity and an action can share a name: the entity is the newer way.
    if hass.states.get(target) is not None:
        return True
    known = er.async_get(hass).async_get(target)
    return known is not None and not known.disabled


def _phone_of(
    hass: HomeAssistant, target: str, phones: Mapping[str, str]
) -> str | None:
    if not _is_entity(hass, target):
        action = target.removeprefix(f"{NOTIFY}.")
        return action if _is_phone(action) else None
    known = er.async_get(hass).async_get(target)
    if known is None or known.platform != _MOBILE_APP or not known.config_entry_id:
        return None
    return phones.get(known.config_entry_id)


def _is_phone(action: str) -> bool:
    return action.startswith(f"{_MOBILE_APP}_")


def _phones(hass: HomeAssistant) -> dict[str, str]:
    """Return the action of each phone by its config entry.

    Two phones of one name share one action, which reaches only one of them: which
    one cannot be known, and what is asked must not come to another's phone.
    """
    actions = {
        entry.entry_id: _action_of(entry)
        for entry in hass.config_entries.async_entries(
            _MOBILE_APP, include_ignore=False, include_disabled=False
        )
    }
    shared = Counter(actions.values())
    return {entry: action for entry, action in actions.items() if shared[action] == 1}


def _action_of(entry: ConfigEntry) -> str:
    return slugify(f"{_MOBILE_APP}_{entry.data.get('device_name', '')}")


def _members(hass: HomeAssistant, action: str) -> tuple[str, ...]:
    """Return the actions that a notify group of the YAML configuration calls.

    Only the group itself knows them. Of one that keeps them otherwise, it is not
    known that all are phones, and it gets plain text.
    """
    service = hass.services.async_services_for_domain(NOTIFY).get(action)
    group = getattr(service.job.target, "__self__", None) if service else None
    if type(group).__module__ != _GROUPS:
        return ()
    members = getattr(group, "entities", ())
    return tuple(member.get("action", "") for member in members)
