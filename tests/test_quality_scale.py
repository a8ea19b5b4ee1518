"""Each rule of Home Assistant's quality scale is kept, and by what."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re
from typing import Any

from homeassistant.const import Platform
from homeassistant.util.yaml import parse_yaml
import pytest

from tests.support.markdown import anchors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "custom_components" / "proactive_agent"

RULES = frozenset(
    (ROOT / "tests" / "fixtures" / "quality_scale_rules.txt")
    .read_text(encoding="utf-8")
    .split()
)
PROOF = re.compile(r"[\w./-]+\.(?:py|md|toml|yaml)(?:::\w+|#[\w-]+)?")
LONGEST_EXCUSE = 400


def _rules() -> dict[str, dict[str, str]]:
    read: Any = parse_yaml((PACKAGE / "quality_scale.yaml").read_text(encoding="utf-8"))
    rules: dict[str, dict[str, str]] = read["rules"]
    return rules


def test_no_rule_is_left_out() -> None:
    assert set(_rules()) == RULES
    assert len(RULES) == 54


@pytest.mark.parametrize("rule", sorted(RULES))
def test_what_is_done_is_there_and_what_is_not_has_a_reason(rule: str) -> None:
    said = _rules()[rule]
    assert said["status"] in {"done", "exempt"}
    proofs = PROOF.findall(said["comment"])
    if said["status"] == "done":
        assert proofs, f"{rule} names nothing that holds it"
    else:
        assert 20 < len(said["comment"]) < LONGEST_EXCUSE
    assert not list(_missing(proofs))


def _missing(proofs: list[str]) -> Iterator[str]:
    for proof in proofs:
        path, _, heading = proof.partition("#")
        path, _, test = path.partition("::")
        file = ROOT / path
        if not file.exists():
            yield f"{path} is not there"
        elif test and test not in _functions(file):
            yield f"{path} has no {test}"
        elif heading and heading not in anchors(file):
            yield f"{path} has no heading #{heading}"


def _functions(file: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(
    ("proof", "fault"),
    [
        ("tests/test_nowhere.py", "is not there"),
        ("tests/test_quality_scale.py::test_of_nothing", "has no test_of_nothing"),
        ("README.md#of-nothing", "has no heading"),
    ],
)
def test_a_proof_that_is_none_is_found(proof: str, fault: str) -> None:
    (missing,) = _missing([proof])
    assert fault in missing


@pytest.mark.parametrize(
    "platform",
    [platform for platform in Platform if (PACKAGE / f"{platform}.py").exists()],
)
def test_each_platform_says_how_many_updates_at_once(platform: Platform) -> None:
    module = ast.parse((PACKAGE / f"{platform}.py").read_text(encoding="utf-8"))
    said = [
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        and any(
            getattr(target, "id", "") == "PARALLEL_UPDATES" for target in node.targets
        )
    ]
    assert said == [0]
