"""What a page says, and what of it is left in English.

A sentence of the integration counts as English if the language has another one.
"""

from collections.abc import Iterator, Mapping, Sequence
import json
from pathlib import Path
import re
from typing import Any, Final

from playwright.async_api import Page

from demo_house.house import INTEGRATION

TRANSLATIONS: Final = Path(INTEGRATION, "translations")
PLACEHOLDER: Final = re.compile(r"\{\w+\}")
# Through all shadow roots: what can be seen, and the words that are cut off in it.
READ: Final = """
(root) => {
  const said = [], cut = [];
  const isCut = (box) => {
    const style = getComputedStyle(box);
    return style.overflowX === "hidden" && style.textOverflow === "ellipsis"
      && box.scrollWidth > box.clientWidth + 1;
  };
  const read = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const words = node.data.replace(/\\s+/g, " ").trim();
      const box = node.parentElement;
      if (!words || box?.matches("style, script") || !(box?.checkVisibility() ?? 1))
        return;
      said.push(words);
      if (box && isCut(box)) cut.push(words);
      return;
    }
    // The label of a text field is drawn by the field, and is no text of its own.
    if (typeof node.label === "string" && node.checkVisibility()) said.push(node.label);
    for (const child of node.shadowRoot?.childNodes ?? []) read(child);
    for (const child of node.childNodes) read(child);
  };
  read(root);
  return {said, cut};
}
"""


class Language:
    """The texts of the integration in one language."""

    def __init__(self, code: str) -> None:
        """Read its file."""
        self.code = code
        self.texts = _texts(code)
        own, english = set(leaves(self.texts)), set(leaves(_texts("en")))
        self._english = [pattern(text) for text in english - own]

    def english_in(self, said: Sequence[str]) -> list[str]:
        """Return what stands there in English."""
        return [
            words
            for words in said
            if any(one.fullmatch(words) for one in self._english)
        ]

    def missing_in(self, said: Sequence[str], texts: Mapping[str, Any]) -> list[str]:
        """Return the sentences of a part of the translations that are not there."""
        return [
            text
            for text in leaves(texts)
            if not any(pattern(text).fullmatch(words) for words in said)
        ]


async def read(page: Page, element: str) -> tuple[list[str], list[str]]:
    """Return all that an element says to the eye, and what of it is cut off."""
    found = await page.locator(element).first.evaluate(READ)
    return found["said"], found["cut"]


def leaves(texts: Mapping[str, Any]) -> Iterator[str]:
    """Go through all sentences of a part of the translations."""
    for value in texts.values():
        if isinstance(value, str):
            yield " ".join(value.split())
        else:
            yield from leaves(value)


def pattern(text: str) -> re.Pattern[str]:
    """Match a text with anything in its placeholders; what is required has a star."""
    words = (re.escape(part) for part in PLACEHOLDER.split(" ".join(text.split())))
    return re.compile(".+".join(words) + r"\s*\*?")


def _texts(code: str) -> dict[str, Any]:
    texts: dict[str, Any] = json.loads((TRANSLATIONS / f"{code}.json").read_text())
    return texts
