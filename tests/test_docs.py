"""The pages for users: they lead somewhere, and say what the product says."""

import json
from pathlib import Path
import re

import pytest

from tests.support.markdown import anchors

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT)
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
)
TRANSLATIONS = ROOT / "custom_components" / "proactive_agent" / "translations"
LINK = re.compile(r"\]\(([^)\s]+)\)")
PLACEHOLDER = re.compile(r"\{\w+\}")
SHORTEST_FIRST_SENTENCE = 10


def _sentences() -> dict[str, str]:
    english = json.loads((TRANSLATIONS / "en.json").read_text(encoding="utf-8"))
    said: dict[str, str] = english["selector"]["message"]["options"]
    return said


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_within_leads_somewhere(page: Path) -> None:
    lost = []
    for link in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, heading = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (heading and heading not in anchors(target)):
            lost.append(link)
    assert not lost


@pytest.mark.parametrize(
    "key",
    [key for key in _sentences() if re.match(r"error_(?!said$)", key)],
)
def test_troubleshooting_knows_every_error(key: str) -> None:
    first = re.split(r"\. |\.$", _sentences()[key])[0]
    shown = PLACEHOLDER.sub("…", first)
    assert len(shown) > SHORTEST_FIRST_SENTENCE
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert f"| {shown} |" in page
