"""The sentences that the owner is to read."""

import json
from typing import Final

from demo_house.house import INTEGRATION

_TEXTS: Final = (INTEGRATION / "translations" / "en.json").read_text(encoding="utf-8")
_SENTENCES: Final = json.loads(_TEXTS)["selector"]["message"]["options"]


def sentence(key: str, door: str, **known: str) -> str:
    """Return what is said about unlocking a door."""
    wanted = f"Unlock lock ({door})"
    return said(key, actions=wanted, request=wanted, **known)


def said(key: str, **known: str) -> str:
    """Return one of the code's own sentences."""
    filled: str = _SENTENCES[key].format(**known)
    return filled
