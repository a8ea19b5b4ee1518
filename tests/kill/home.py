"""A home of doors: each can be unlocked only by a call that is counted elsewhere."""

from collections.abc import Iterable
import json
from pathlib import Path
from typing import Any, Final

TIME_ZONE: Final = "Europe/Vienna"


def write_home(folder: Path, doors: Iterable[str], witness: str) -> None:
    """Write the configuration of a home whose doors call the witness."""
    folder.mkdir()
    content = json.dumps(_home(tuple(doors), witness), indent=1)
    (folder / "configuration.yaml").write_text(content, encoding="utf-8")


def lock_of(door: str) -> str:
    """Return the entity of a door's lock."""
    return f"lock.{door}"


_CARRY_OUT: Final[dict[str, Any]] = {
    "fields": {"decision": {"required": True, "selector": {"text": None}}},
    "sequence": [{"action": "rest_command.unlock", "data": {"door": "{{ decision }}"}}],
}


def _home(doors: tuple[str, ...], witness: str) -> dict[str, Any]:
    return {
        "homeassistant": {
            "name": "A home of doors",
            "unit_system": "metric",
            "language": "en",
            "time_zone": TIME_ZONE,
        },
        "config": None,
        "diagnostics": None,
        "onboarding": None,
        "mobile_app": None,
        "recorder": {"commit_interval": 0},
        "logbook": None,
        "logger": {
            "default": "warning",
            "logs": {
                "custom_components.proactive_agent": "info",
                # What they regret is about cameras and sounds; there are none.
                "homeassistant.components.camera.img_util": "critical",
                "haffmpeg": "critical",
            },
        },
        "rest_command": {
            "unlock": {
                "url": f"{witness}/did/{{{{ door }}}}",
                "method": "post",
                "timeout": 120,
            }
        },
        # Always locked after a start: what a yes was given for is then as it was.
        "input_boolean": {
            "trouble": {"initial": False},
            **{door: {"initial": True} for door in doors},
        },
        "input_text": {"stuck": {"initial": ""}, "news": {"initial": ""}},
        "script": {"carry_out": _CARRY_OUT, "carry_out_after_a_yes": _CARRY_OUT},
        "template": [{"lock": [_lock(door) for door in doors]}],
    }


def _lock(door: str) -> dict[str, Any]:
    bolt = f"input_boolean.{door}"
    return {
        "name": door,
        "unique_id": door,
        "state": f"{{{{ is_state('{bolt}', 'on') }}}}",
        "lock": [_turn("on", bolt)],
        "unlock": [
            # A mechanism that has been told to unlock, and does not move.
            {"wait_template": f"{{{{ not is_state('input_text.stuck', '{door}') }}}}"},
            {"action": "rest_command.unlock", "data": {"door": door}},
            _turn("off", bolt),
        ],
    }


def _turn(state: str, bolt: str) -> dict[str, Any]:
    return {"action": f"input_boolean.turn_{state}", "target": {"entity_id": bolt}}
