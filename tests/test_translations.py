"""Every language says all there is to say, and nothing else."""

from collections.abc import Iterator
import json
from pathlib import Path
import re
from typing import Any, Final

import pytest

FOLDER: Final = (
    Path(__file__).parents[1] / "custom_components" / "proactive_agent" / "translations"
)
LANGUAGES: Final = ("de", "en", "es", "fr", "nl", "zh-Hans")
PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}")
MARKUP: Final = re.compile(r"<\w|https?://|www\.")
SHOUTING: Final = frozenset("!\uff01")
LONG: Final = 24  # characters; what is shorter may be the same in two languages


def _texts(language: str) -> dict[str, str]:
    path = FOLDER / f"{language}.json"
    return dict(_flat("", json.loads(path.read_text(encoding="utf-8"))))


def _flat(path: str, part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, str):
        yield path, part
        return
    for key, value in part.items():
        yield from _flat(f"{path}.{key}" if path else key, value)


ENGLISH: Final = _texts("en")
OTHERS: Final = [language for language in LANGUAGES if language != "en"]


def _faults(theirs: dict[str, str]) -> Iterator[str]:
    for key in ENGLISH.keys() - theirs.keys():
        yield f"{key} is missing"
    for key, text in theirs.items():
        if (english := ENGLISH.get(key)) is None:
            yield f"{key} is not used any more"
        else:
            yield from (f"{key}: {fault}" for fault in _text_faults(text, english))


def _text_faults(text: str, english: str) -> Iterator[str]:
    if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(english)):
        yield "other placeholders"
    if not text or text != text.strip():
        yield "empty, or a blank at its end"
    if MARKUP.search(text) or SHOUTING & set(text):
        yield "markup, a link or an exclamation mark"
    words = PLACEHOLDER.sub("", english)
    if text == english and len(words) >= LONG:
        yield "still English"


def test_there_are_the_languages_that_are_promised() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_is_complete(language: str) -> None:
    assert sorted(_faults(_texts(language))) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_with_the_same_key_keep_their_order(language: str) -> None:
    """Files in the same order can be compared line by line."""
    assert [*_texts(language)] == [*ENGLISH]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda texts: texts.popitem(), "is missing"),
        (lambda texts: texts.update(stale="old"), "is not used any more"),
        (lambda texts: texts.update({A_LONG_ONE: "{x}"}), "other placeholders"),
        (lambda texts: texts.update({A_LONG_ONE: "Ja! "}), "exclamation mark"),
        (lambda texts: texts.update({A_LONG_ONE: ""}), "empty"),
        (lambda _: None, "still English"),
    ],
)
def test_a_fault_is_found(change: Any, fault: str) -> None:
    texts = dict(ENGLISH)
    change(texts)
    assert any(fault in found for found in _faults(texts))


A_LONG_ONE: Final = "config.step.user.description"
