"""What a person reads stands in the translations, and nowhere in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[1] / "custom_components" / "proactive_agent"
WORDS: Final = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
LOGGING: Final = {"debug", "info", "warning", "error", "exception", "critical", "log"}
TASKS: Final = {
    "async_create_task",
    "async_create_background_task",
    "spawn",
    "_spawn",
    "run",
}

# Rooms in which sentences are for the model, which is spoken to in one language.
FOR_THE_MODEL: Final = (
    "engine/",
    "tools/",
    "guard/",
    "task/",
    "home/text.py",
    "flows/ai_task.py",
    "endpoint/endpoint.py",
    "asking/asking.py",
)
# What the gate has seen stands in records and diagnostics, for whoever looks inside; in
# messages and on pages the same is said by `telling/`.
FOR_DIAGNOSTICS: Final = ("gate/", "handout/sentences.py")
# Notes in a record, beside the answers that the model was given.
IN_RECORDS: Final = (
    "asking/carrying_out.py",
    "heartbeat/asking.py",
    "heartbeat/book.py",
    "notifier/notifier.py",
)
NAMES: Final = {"Proactive Agent"}


def _modules() -> list[str]:
    return [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.relative_to(PACKAGE)
        .as_posix()
        .startswith((*FOR_THE_MODEL, *FOR_DIAGNOSTICS, *IN_RECORDS))
    ]


def _sentences(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    hidden = {id(part) for node in _hidden(tree) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in hidden
            and WORDS.search(node.value)
            and node.value not in NAMES
        ):
            yield f"{node.lineno}: {node.value!r}"


def _hidden(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what is for whoever reads code and logs."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant()):
                yield node  # a docstring
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name))) if (
                name in BUILT_IN_ERRORS
            ):
                yield node
            case ast.Call(func=ast.Attribute(attr=name)) if name in LOGGING | TASKS:
                yield node
            case ast.Call(func=ast.Name(id=name)) if name in TASKS:
                yield node


BUILT_IN_ERRORS: Final = {"ValueError", "TypeError", "KeyError", "WriteError"}


@pytest.mark.parametrize("module", _modules())
def test_no_sentence_is_hidden_in_the_code(module: str) -> None:
    found = list(_sentences((PACKAGE / module).read_text(encoding="utf-8")))
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "x = 'Look at this'",
        "raise HomeAssistantError('It did not work')",
        "title = f'{name} was not found'",
        "ir.async_create_issue(hass, DOMAIN, 'x', title='Something is wrong')",
    ],
)
def test_a_sentence_is_found(source: str) -> None:
    assert list(_sentences(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""Say what it is."""',
        "_LOGGER.debug('It did not work: %s', error)",
        "raise ValueError('It has no time zone')",
        "key = 'some_key'",
    ],
)
def test_what_nobody_reads_is_let_through(source: str) -> None:
    assert not list(_sentences(source))
