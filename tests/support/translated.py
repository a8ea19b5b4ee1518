"""Whether what a dialog shows is there in words, in the one file that is read."""

from collections.abc import Container, Mapping
import json
from pathlib import Path
import string
from typing import Any, Final

from homeassistant.data_entry_flow import section
from homeassistant.helpers import issue_registry as ir

TEXTS: Final[Mapping[str, Any]] = json.loads(
    (
        Path(__file__).parents[2]
        / "custom_components/proactive_agent/translations/en.json"
    ).read_text(encoding="utf-8")
)

_SAID: Final = ("title", "description")


def assert_form_is_translated(
    path: str, form: Mapping[str, Any], absent: Container[str] = ()
) -> None:
    """Hold each field of a form, and each error on it, against the texts.

    `absent` are fields with a text that this form is right not to have.
    """
    step = _texts(path)["step"][form["step_id"]]
    assert step["title"]
    _fill_in(step["description"], form)
    schema = form["data_schema"].schema
    _assert_fields(
        {
            key: {name: text for name, text in part.items() if name not in absent}
            if key in {"data", "data_description"}
            else part
            for key, part in step.items()
        },
        schema,
    )
    for field in form["errors"] or {}:
        assert error_text(path, form, field)


def assert_menu_is_translated(path: str, menu: Mapping[str, Any]) -> None:
    """Hold a menu against the texts: each way has a name and a description."""
    step = _texts(path)["step"][menu["step_id"]]
    assert step["title"]
    _fill_in(step["description"], menu)
    assert list(step["menu_options"]) == list(menu["menu_options"])
    assert list(step["menu_option_descriptions"]) == list(menu["menu_options"])


def progress_text(path: str, result: Mapping[str, Any]) -> str:
    """Return what is shown while something is waited for."""
    assert _texts(path)["step"][result["step_id"]]["title"]
    return _fill_in(_texts(path)["progress"][result["progress_action"]], result)


def error_text(path: str, form: Mapping[str, Any], field: str) -> str:
    """Return the sentence that is shown on a field."""
    assert field == "base" or field in form["data_schema"].schema
    return _fill_in(_texts(path)["error"][form["errors"][field]], form)


def result_text(path: str, result: Mapping[str, Any]) -> str:
    """Return the sentence with which a dialog ends."""
    kind = result["type"].value
    key = result["reason"] if kind == "abort" else result.get("description")
    return _fill_in(_texts(path)[kind][key or "default"], result)


def issue_text(issue: ir.IssueEntry) -> str:
    """Return all that an owner reads of an issue before anything is pressed."""
    said = TEXTS["issues"][issue.translation_key]
    if issue.is_fixable:
        (said,) = said["fix_flow"]["step"].values()
    placeholders = issue.translation_placeholders or {}
    return " ".join(said[part].format(**placeholders) for part in _SAID)


def _texts(path: str) -> Mapping[str, Any]:
    texts = TEXTS
    for part in path.split("."):
        texts = texts[part]
    return texts


def _assert_fields(texts: Mapping[str, Any], schema: Mapping[Any, Any]) -> None:
    fields = {str(key): value for key, value in schema.items()}
    sections = {key for key, value in fields.items() if isinstance(value, section)}
    plain = fields.keys() - sections
    assert texts["data"].keys() == plain
    assert texts["data_description"].keys() == plain
    assert texts.get("sections", {}).keys() == sections
    for key in sections:
        assert texts["sections"][key]["name"]
        assert texts["sections"][key]["description"]
        _assert_fields(texts["sections"][key], fields[key].schema.schema)


def _fill_in(text: str, result: Mapping[str, Any]) -> str:
    placeholders = result.get("description_placeholders") or {}
    used = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    assert used <= placeholders.keys()
    return text.format(**placeholders)
