"""Answers that servers really give (tests/fixtures/wire), and the tools declared."""

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any, Final

from custom_components.proactive_agent.engine.records import ToolSpec

_FILE: Final = Path(__file__).parents[1] / "fixtures" / "wire" / "catalogue.json"
_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}


def _tool(name: str, required: list[str], /, **properties: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=f"The tool {name}.",
        parameters={"type": "object", "properties": properties, "required": required},
    )


TOOLS: Final = (
    _tool("get_weather", ["city"], city=_STRING, days=_INTEGER),
    _tool("now", []),
    _tool("llm_version", []),
    _tool("set_level", ["name", "level"], name=_STRING, level=_INTEGER, max=_INTEGER),
    _tool("write_file", ["path", "text"], path=_STRING, text=_STRING),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One answer and what a client must make of it."""

    id: str
    endpoint: str
    status: int
    headers: dict[str, str]
    body: bytes
    wire: str
    expect: str
    expected: dict[str, Any]


def _case(raw: dict[str, Any]) -> Case:
    http = raw["http"]
    body = http.get("body", "")
    return Case(
        id=raw["id"],
        endpoint=raw["endpoint"],
        status=http["status"],
        headers=http.get("headers", {}),
        body=(body if isinstance(body, str) else json.dumps(body)).encode(),
        wire=http.get("wire", ""),
        expect=raw["expect"],
        expected=raw["expected"],
    )


CASES: Final = tuple(map(_case, json.loads(_FILE.read_text(encoding="utf-8"))))
CHATS: Final = tuple(case for case in CASES if case.endpoint == "chat")
MODELS: Final = tuple(case for case in CASES if case.endpoint == "models")
