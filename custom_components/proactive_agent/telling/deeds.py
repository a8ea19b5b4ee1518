"""What was done, as a sentence would go on: turned off Lamp and ran Feed."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from ..engine.plain_text import plain_line, shorten
from ..engine.records import ActionRecord
from ..texts import Texts

_DEEDS_NAMED: Final = 3
_NAMES_ROOM: Final = 80  # characters
_VERBS: Final[Mapping[str, str]] = {
    "add_item": "added",
    "close_cover": "closed",
    "close_valve": "closed",
    "create_event": "added",
    "decrement": "lowered",
    "increment": "raised",
    "lock": "locked",
    "media_pause": "paused",
    "media_play": "started",
    "media_stop": "stopped",
    "open": "opened",
    "open_cover": "opened",
    "open_valve": "opened",
    "pause": "paused",
    "press": "pressed",
    "start": "started",
    "stop": "stopped",
    "stop_cover": "stopped",
    "turn_off": "turned_off",
    "turn_on": "turned_on",
    "unlock": "unlocked",
}


def in_words(texts: Texts, actions: Iterable[ActionRecord]) -> str:
    """Say what these actions did, in one plain line; empty if there are none."""
    things: dict[str, list[str]] = {}
    for action in actions:
        verb = _verb(action)
        name = texts.name_of(action) if verb == "did" else texts.things_of(action)
        things.setdefault(verb, []).append(plain_line(name) or action.action)
    said = ""
    for verb, names in islice(things.items(), _DEEDS_NAMED):
        listed = shorten(", ".join(dict.fromkeys(names)), _NAMES_ROOM)
        deed = texts.say(f"did_{verb}", things=listed)
        said = texts.say("did_and", one=said, other=deed) if said else deed
    if (more := len(things) - _DEEDS_NAMED) > 0:
        return texts.say("and_more", actions=said, count=str(more))
    return said


def _verb(action: ActionRecord) -> str:
    """Return the key of the verb: a past tense is no matter of a service's name."""
    domain, _, service = action.action.partition(".")
    if not action.entity_id:
        return "did"
    if domain == "script":
        return "ran"
    if domain == "scene":
        return "activated"
    return _VERBS.get(service) or ("set" if "set_" in f"{service}_" else "did")
