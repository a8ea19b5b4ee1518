"""Each rule that the contract calls built has a test, and each number a rule."""

from collections.abc import Iterator
from pathlib import Path
import re

ROOT = Path(__file__).parents[1]
CONTRACT = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
RULES, _, PLANNED = CONTRACT.partition("## Not built yet")
NUMBER = r"[A-Z]\d+"
# Rules of which nothing is built; of the others under that heading something is.
WITHOUT_A_TEST: set[str] = set()


def _rules() -> set[str]:
    return set(re.findall(rf"^- \*\*({NUMBER})\*\*", RULES, re.MULTILINE))


def _marked() -> Iterator[str]:
    for path in (ROOT / "tests").rglob("*.py"):
        for marker in re.findall(r"mark\.contract\(([^)]*)\)", path.read_text("utf-8")):
            yield from re.findall(rf'"({NUMBER})"', marker)


def _cited() -> Iterator[str]:
    package = ROOT / "custom_components" / "proactive_agent"
    for path in package.rglob("*.py"):
        for cited in re.findall(r"\(((?:[A-Z]\d+[-, ]*)+)\)", path.read_text("utf-8")):
            yield from re.findall(NUMBER, cited)


def test_every_number_in_tests_and_code_is_a_rule() -> None:
    assert {*_marked(), *_cited()} - _rules() == set()


def test_every_rule_that_is_built_has_a_test() -> None:
    assert _rules() - set(_marked()) == WITHOUT_A_TEST


def test_what_has_no_test_is_said_to_be_missing() -> None:
    for rule in WITHOUT_A_TEST:
        assert f"**{rule}**" in PLANNED
