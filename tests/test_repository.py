"""What HACS, hassfest and a newcomer expect of the repository."""

from collections.abc import Iterator
import json
from pathlib import Path
import re
import struct
import subprocess
import sys
from typing import Any
import zipfile

from awesomeversion import AwesomeVersion
from homeassistant.const import __version__ as running_version
from homeassistant.loader import Manifest
from homeassistant.util.yaml import parse_yaml
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "custom_components" / "proactive_agent"
PROJECT = "https://github.com/proactive-agent/proactive-agent"

IOT_CLASSES = {
    "assumed_state",
    "calculated",
    "cloud_polling",
    "cloud_push",
    "local_polling",
    "local_push",
}
COMMANDS = (
    "scripts/test",
    "scripts/demo",
    "scripts/bench",
    "scripts/package",
    ".ci/run",
)
IMPORT_BUDGET = 0.3  # seconds, on top of Home Assistant


def _json(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def _yaml(path: Path) -> dict[str, Any]:
    loaded = parse_yaml(path.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    loaded: Manifest = _json(PACKAGE / "manifest.json")  # type: ignore[assignment]
    return loaded


@pytest.fixture(scope="module")
def english() -> dict[str, Any]:
    return _json(PACKAGE / "translations" / "en.json")


@pytest.fixture(scope="module")
def actions() -> dict[str, Any]:
    return _yaml(PACKAGE / "services.yaml")


# The manifest and HACS


def test_the_manifest_says_what_custom_integrations_must(manifest: Manifest) -> None:
    assert manifest["domain"] == PACKAGE.name
    assert manifest["name"] == "Proactive Agent"
    assert manifest["codeowners"]
    assert all(owner.startswith("@") for owner in manifest["codeowners"])
    assert manifest["config_flow"] is True
    assert manifest["integration_type"] == "service"
    assert manifest["iot_class"] in IOT_CLASSES
    assert AwesomeVersion(manifest["version"]).simple


def test_the_manifest_is_in_order(manifest: Manifest) -> None:
    keys = list(manifest)
    assert keys == ["domain", "name", *sorted(set(keys) - {"domain", "name"})]


def test_nothing_is_added_to_what_home_assistant_ships(manifest: Manifest) -> None:
    assert manifest["requirements"] == []


def test_the_links_lead_to_this_project(manifest: Manifest) -> None:
    assert manifest["documentation"] == PROJECT
    assert manifest["issue_tracker"] == f"{PROJECT}/issues"


def test_there_is_one_version(manifest: Manifest) -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{manifest["version"]}"\n' in project


def test_hacs_knows_the_oldest_home_assistant() -> None:
    assert _json(ROOT / "hacs.json") == {
        "name": "Proactive Agent",
        "homeassistant": "2026.10.0",
        "zip_release": True,
        "filename": "proactive_agent.zip",
    }
    assert AwesomeVersion(running_version) >= "2026.10.0"


def test_hacs_finds_one_integration() -> None:
    folders = [
        path.name
        for path in (ROOT / "custom_components").iterdir()
        if path.is_dir() and not path.name.startswith("__")
    ]
    assert folders == [PACKAGE.name]
    assert (ROOT / "README.md").stat().st_size > 0


@pytest.mark.parametrize(("name", "size"), [("icon.png", 256), ("icon@2x.png", 512)])
def test_the_icon_has_its_size(name: str, size: int) -> None:
    head = (PACKAGE / "brand" / name).read_bytes()[:26]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, _depth, colour_type = struct.unpack(">IIBB", head[16:26])
    assert (width, height) == (size, size)
    assert colour_type == 6, "it has no transparency"


# The texts


def _texts(part: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, str):
        yield path, part
        return
    for key, value in part.items():
        yield from _texts(value, f"{path}.{key}".removeprefix("."))


def test_the_texts_are_plain(english: dict[str, Any]) -> None:
    faults = []
    for path, text in _texts(english):
        if not text or text != text.strip():
            faults.append(f"{path}: blank, or blanks around it")
        if re.search(r"https?:|www\.|home-assistant\.io", text):
            faults.append(f"{path}: an address; use a placeholder")
        if re.search(r"</?[a-z]+[^>]*>", text, re.IGNORECASE):
            faults.append(f"{path}: markup")
        if "!" in text:
            faults.append(f"{path}: an exclamation mark")
        if "[%key:" in text:
            faults.append(f"{path}: a reference, which only core resolves")
        if re.search(r"'\{\w+\}'", text):
            faults.append(f"{path}: a placeholder in single quotes is not filled")
    assert not faults


def _forms(english: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    flows = {"config": english["config"], **english["config_subentries"]}
    for flow, texts in flows.items():
        for step, form in texts["step"].items():
            yield f"{flow}.{step}", form
            for section, inner in form.get("sections", {}).items():
                yield f"{flow}.{step}.{section}", inner


def test_every_field_is_described(english: dict[str, Any]) -> None:
    forms = dict(_forms(english))
    assert any(form.get("data") for form in forms.values())
    for place, form in forms.items():
        assert form.get("data", {}).keys() == form.get("data_description", {}).keys(), (
            place
        )


def test_the_heartbeat_can_be_added_from_the_ui(english: dict[str, Any]) -> None:
    heartbeat = english["config_subentries"]["heartbeat"]
    assert heartbeat["entry_type"]
    assert heartbeat["initiate_flow"]["user"]


# The actions


def test_every_action_is_described(
    english: dict[str, Any], actions: dict[str, Any]
) -> None:
    assert english["services"].keys() == actions.keys()
    for name, action in actions.items():
        texts = english["services"][name]
        assert texts["name"], name
        assert texts["description"], name
        fields = action.get("fields", {})
        assert texts.get("fields", {}).keys() == fields.keys(), name
        for field in texts.get("fields", {}).values():
            assert field["name"], name
            assert field["description"], name


def test_every_action_has_an_icon(actions: dict[str, Any]) -> None:
    icons = _json(PACKAGE / "icons.json")
    assert icons["services"].keys() == actions.keys()
    for _path, icon in _texts(icons):
        assert re.fullmatch(r"mdi:[a-z0-9]+(-[a-z0-9]+)*", icon)


def test_every_entity_with_an_icon_has_a_name(english: dict[str, Any]) -> None:
    icons = _json(PACKAGE / "icons.json")["entity"]
    for platform, entities in icons.items():
        assert entities.keys() <= english["entity"][platform].keys()


# The tree


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


# Split, so that this file does not find itself.
FOREIGN = (
    "/" + "work/",
    "/" + "root/",
    "/" + "tmp/",
    "/" + "home/",
    "pypi" + ".org",
    "pythonhosted" + ".org",
    "npmjs" + ".org",
)
# A path inside a program's own folder tree is not a machine's.
HARMLESS = re.compile(r"custom_components/\S*|demo_house/home/")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_no_file_knows_the_machine_it_was_written_on() -> None:
    faults = []
    for path in _tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            cleaned = HARMLESS.sub("", line)
            faults += [
                f"{path.relative_to(ROOT)}:{number} says {word}"
                for word in FOREIGN
                if word in cleaned
            ]
    assert not faults


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_scripts_can_be_run() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--stage", *COMMANDS],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(listed) == len(COMMANDS)
    assert all(line.startswith("100755") for line in listed)


@pytest.mark.parametrize(
    "workflow",
    sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ids=lambda path: path.stem,
)
def test_workflows_are_pinned_and_may_only_read(workflow: Path) -> None:
    content = _yaml(workflow)
    assert content["permissions"] == {"contents": "read"}
    writing = {name for name, job in content["jobs"].items() if "permissions" in job}
    assert writing == ({"package"} if workflow.stem == "release" else set())
    used = re.findall(r"uses: (.+)", workflow.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # \S+", action), action


# The zip of a release


def _pack(*arguments: object) -> subprocess.CompletedProcess[str]:
    return _python("scripts/package", *arguments)


def test_a_release_holds_the_folder_and_nothing_else(tmp_path: Path) -> None:
    packed = tmp_path / "proactive_agent.zip"
    assert _pack(packed).returncode == 0
    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist())
        assert archive.read("manifest.json") == (PACKAGE / "manifest.json").read_bytes()
    there = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == there


def test_the_same_files_give_the_same_release(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        assert _pack(tmp_path / name).returncode == 0
    one, two = ((tmp_path / name).read_bytes() for name in ("one.zip", "two.zip"))
    assert one == two


def test_a_release_has_the_version_of_its_tag(
    manifest: Manifest, tmp_path: Path
) -> None:
    packed = tmp_path / "proactive_agent.zip"
    refused = _pack("--tag", "v0.0.0", packed)
    assert refused.returncode == 1
    assert "the manifest says" in refused.stderr
    assert not packed.exists()
    assert _pack("--tag", f"v{manifest['version']}", packed).returncode == 0


# Importing


def _python(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def test_the_package_is_imported_in_no_time() -> None:
    done = _python("-m", "tests.support.import_time", PACKAGE)
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < IMPORT_BUDGET


def test_the_engine_needs_no_home_assistant() -> None:
    done = _python("-m", "tests.support.engine_alone", PACKAGE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1


def test_an_engine_that_needs_home_assistant_is_found(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.mkdir()
    (engine / "__init__.py").write_text("import homeassistant.core")
    done = _python("-m", "tests.support.engine_alone", tmp_path)
    assert done.returncode != 0
    assert "the engine asked for homeassistant" in done.stderr


# The judge of the coverage


def _covered(percent: float, lines: int = 0, branches: int = 0) -> dict[str, Any]:
    return {
        "summary": {
            "percent_covered": percent,
            "missing_lines": lines,
            "missing_branches": branches,
        },
        "missing_lines": list(range(lines)),
        "missing_branches": [[line, -1] for line in range(branches)],
    }


COMPLETE = {
    f"custom_components/proactive_agent/{name}": _covered(100)
    for name in (
        "engine/loop.py",
        "config_flow.py",
        "subentry_flow.py",
        "flows/schemas.py",
    )
}
LOOP = "custom_components/proactive_agent/engine/loop.py"
FLOW = "custom_components/proactive_agent/config_flow.py"


@pytest.mark.parametrize(
    ("overall", "files", "fault"),
    [
        (95.01, COMPLETE, None),
        (95.0, COMPLETE, "overall: 95.00 %"),
        (99.0, COMPLETE | {LOOP: _covered(99, lines=1)}, LOOP),
        (99.0, COMPLETE | {FLOW: _covered(99, branches=1)}, FLOW),
        (99.0, {LOOP: _covered(100)}, "config_flow.py: nothing of it"),
    ],
)
def test_coverage_is_judged(
    tmp_path: Path, overall: float, files: dict[str, Any], fault: str | None
) -> None:
    report = tmp_path / "coverage.json"
    report.write_text(
        json.dumps({"totals": {"percent_covered": overall}, "files": files})
    )
    done = _python("scripts/lib/check_coverage.py", report)
    assert done.returncode == (1 if fault else 0), done.stderr
    assert (fault or "overall: 95.01 %") in done.stdout
