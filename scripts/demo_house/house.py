"""The folder of a fresh Home Assistant: Milonga's home and this checkout's agent."""

from contextlib import closing
import json
from pathlib import Path
import shutil
import socket

from .errors import DemoError

CHECKOUT = Path(__file__).resolve().parents[2]
INTEGRATION = CHECKOUT / "custom_components" / "proactive_agent"
HOME = Path(__file__).parent / "home"
HOST = "127.0.0.1"

HUNGER = "input_number.hunger"
HAPPY = "input_number.happy"
CALL_LIGHT = "light.call_light"
# What nobody is to open without being asked.
FRONT_DOOR = "lock.front_door"
# What the agent is given to act on.
IN_ITS_HANDS = ("script.feed", "script.play", CALL_LIGHT)


def lay_out(config_dir: Path, *, port: int, home: Path = HOME) -> None:
    """Fill an empty folder with the configuration in `home`; raises `DemoError`."""
    if (config_dir / ".storage").exists():
        raise DemoError(f"{config_dir} already holds a Home Assistant; name a new one")
    shutil.copytree(home, config_dir, dirs_exist_ok=True)
    # A copy, not a link: Python would leave its caches in the checkout otherwise.
    shutil.copytree(
        INTEGRATION,
        config_dir / "custom_components" / INTEGRATION.name,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    _store(config_dir, "http", version=3, data=_http(port))
    # These steps add entries (weather, radio) that retry for ever without internet.
    done = ["core_config", "analytics", "integration"]
    _store(config_dir, "onboarding", version=4, data={"done": done})


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with closing(socket.socket()) as sock:
        sock.bind((HOST, 0))
        port: int = sock.getsockname()[1]
        return port


def _store(config_dir: Path, key: str, *, version: int, data: object) -> None:
    folder = config_dir / ".storage"
    folder.mkdir(exist_ok=True)
    content = {"version": version, "minor_version": 1, "key": key, "data": data}
    (folder / key).write_text(json.dumps(content), encoding="utf-8")


def _http(port: int) -> dict[str, object]:
    # `http:` in YAML would be pending, behind a dialog that blocks the whole frontend.
    stable = {
        "server_port": port,
        "server_host": [HOST],
        "cors_allowed_origins": [],
        "login_attempts_threshold": -1,
        "ip_ban_enabled": False,
        "ssl_profile": "intermediate_v6",
        "use_x_frame_options": True,
        "created_at": "2026-01-01T00:00:00+00:00",
        "error": None,
        "error_message": None,
    }
    return {"stable": stable, "pending": None, "yaml_migration_done": True}
