"""The architecture: floors, one direction, small rooms."""

from collections.abc import Callable, Iterator
from pathlib import Path

from homeassistant.const import Platform
from homeassistant.loader import BASE_PRELOAD_PLATFORMS
import pytest

from tests.support import architecture
from tests.support.architecture import Floor, Package

SOURCE = Path(__file__).parents[1] / "custom_components" / "proactive_agent"

# From the ground up. A room imports what stands below it; the modules of one room
# (patterns with a blank between them) may import each other, rooms of one floor not.
FLOORS: tuple[Floor, ...] = (
    ("engine engine.*",),
    ("const",),
    ("tracking",),
    ("saying",),
    (
        "models",
        "texts",
        "identity",
        "lineage",
        "listeners",
        "alarm",
        "refusal",
        "activity",
        "spawning",
    ),
    (
        "endpoint endpoint.*",
        "task task.*",
        "store store.*",
        "notifier notifier.*",
        "approvals approvals.*",
        "guard guard.*",
    ),
    ("gate gate.*", "home home.*", "tools tools.*", "minds"),
    ("run run.*",),
    ("telling telling.*",),
    ("asking asking.*",),
    ("heartbeat heartbeat.*",),
    ("runtime answers answers.* loss removal",),
    ("entity", "targeted"),
    ("sensors sensors.*",),
    (
        "switch",
        "sensor",
        "event",
        "button",
        "services",
        "logbook",
        "diagnostics handout handout.*",
        "system_health",
        "trigger",
        "condition",
        "config_flow subentry_flow repairs flows flows.*",
    ),
    ("__init__",),
)

TOOLBOX = "tools tools.*"

PLATFORMS_OF_OURS = frozenset(
    {
        "button",
        "condition",
        "config_flow",
        "diagnostics",
        "event",
        "logbook",
        "repairs",
        "sensor",
        "switch",
        "system_health",
        "trigger",
    }
)
TAKEN = (
    frozenset(BASE_PRELOAD_PLATFORMS)
    | frozenset(Platform)
    | frozenset(
        {
            "analytics",
            "application_credentials",
            "device_action",
            "device_condition",
            "device_trigger",
            "llm",
            "reproduce_state",
            "significant_change",
        }
    )
) - PLATFORMS_OF_OURS


@pytest.fixture(scope="module")
def package() -> Package:
    return {
        _module_name(path): path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.rglob("*.py"))
    }


def _module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def _report(faults: Iterator[str]) -> str:
    return "\n".join(faults)


def test_every_module_has_its_floor(package: Package) -> None:
    assert not _report(architecture.strangers(package, FLOORS))


def test_imports_run_one_way(package: Package) -> None:
    assert not _report(architecture.upward_imports(package, FLOORS))


def test_modules_do_not_import_each_other(package: Package) -> None:
    assert not _report(architecture.cycles(package))


def test_the_engine_knows_the_standard_library_only(package: Package) -> None:
    assert not _report(architecture.engine_strays(package))


def test_probatio_stays_in_the_toolbox(package: Package) -> None:
    assert not _report(architecture.importers_of(package, "probatio", TOOLBOX))


def test_modules_are_small(package: Package) -> None:
    assert not _report(architecture.long_modules(package))


def test_no_module_is_taken_for_a_platform(package: Package) -> None:
    assert not _report(architecture.taken_names(package, TAKEN))


def test_nothing_is_kept_in_hass_data(package: Package) -> None:
    assert not _report(architecture.uses_of_hass_data(package))


# The checks themselves, each on a house that breaks its rule.

SMALL_FLOORS: tuple[Floor, ...] = (
    ("engine engine.*",),
    ("left left_*", "right"),
    ("top",),
    ("__init__",),
)
ABSOLUTE = "import custom_components.proactive_agent.top"

UPWARD = [
    pytest.param({"left": "from .top import x", "top": ""}, id="from a module"),
    pytest.param({"left": "from . import top", "top": ""}, id="from the package"),
    pytest.param({"left": "from . import x", "__init__": ""}, id="from __init__"),
    pytest.param({"left": ABSOLUTE, "top": ""}, id="absolute"),
    pytest.param(
        {"left": "def f():\n    from .top import x", "top": ""}, id="in a function"
    ),
    pytest.param(
        {"left": "if TYPE_CHECKING:\n    from .top import x", "top": ""},
        id="for types",
    ),
    pytest.param(
        {"engine": "", "engine.loop": "from ..left import x", "left": ""},
        id="out of a package",
    ),
    pytest.param(
        {"engine": "from ..left import x", "engine.loop": "", "left": ""},
        id="out of a package's own file",
    ),
]


@pytest.mark.parametrize("house", UPWARD)
def test_an_upward_import_is_found(house: Package) -> None:
    assert "upward" in _report(architecture.upward_imports(house, SMALL_FLOORS))


@pytest.mark.parametrize(
    "house",
    [
        {"left": "from .right import x", "right": ""},
        {"left_wing": "from . import right", "right": ""},
    ],
)
def test_an_import_of_a_neighbour_is_found(house: Package) -> None:
    faults = _report(architecture.upward_imports(house, SMALL_FLOORS))
    assert "another room" in faults


def test_a_good_house_has_no_faults() -> None:
    house = {
        "__init__": "from .top import x",
        "engine": "",
        "engine.loop": "import asyncio\nfrom .records import x",
        "engine.records": "from . import loop_like_name",
        "left": "from .engine.loop import x\nfrom .left_wing import y",
        "left_wing": "from .engine import records",
        "top": "from . import left\nimport homeassistant.core\nhass.states.data",
    }
    rules: list[Callable[[Package], Iterator[str]]] = [
        lambda house: architecture.strangers(house, SMALL_FLOORS),
        lambda house: architecture.upward_imports(house, SMALL_FLOORS),
        architecture.cycles,
        architecture.engine_strays,
        lambda house: architecture.importers_of(house, "probatio", "left"),
        architecture.long_modules,
        lambda house: architecture.taken_names(house, {"intent"}),
        architecture.uses_of_hass_data,
    ]
    assert [_report(rule(house)) for rule in rules] == [""] * len(rules)


def test_a_module_without_a_floor_is_found() -> None:
    assert "attic is on no floor" in _report(
        architecture.strangers({"attic": ""}, SMALL_FLOORS)
    )


def test_a_ring_is_found() -> None:
    ring = {"left": "from .left_wing import x", "left_wing": "from .left import y"}
    assert "left → left_wing → left" in _report(
        architecture.cycles(ring)
    ) or "left_wing → left → left_wing" in _report(architecture.cycles(ring))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import aiohttp", "aiohttp"),
        ("from homeassistant.core import callback", "homeassistant.core"),
        ("from ..const import DOMAIN", "outside the engine"),
    ],
)
def test_a_stray_of_the_engine_is_found(source: str, fault: str) -> None:
    house = {"engine": "", "engine.loop": source, "const": ""}
    assert fault in _report(architecture.engine_strays(house))


def test_probatio_elsewhere_is_found() -> None:
    house = {"left": "from probatio import to_openapi", "right": "import probatio"}
    faults = _report(architecture.importers_of(house, "probatio", "right"))
    assert "left:1" in faults
    assert "right:1" not in faults


def test_a_long_module_is_found() -> None:
    house = {"left": "x = 1\n" * 301, "right": "x = 1\n" * 300}
    faults = _report(architecture.long_modules(house))
    assert "left has 301 lines" in faults
    assert "right" not in faults


@pytest.mark.parametrize("name", ["intent", "llm", "notify", "device_trigger"])
def test_a_platform_name_is_found(name: str) -> None:
    assert name in _report(architecture.taken_names({name: ""}, TAKEN))


@pytest.mark.parametrize("source", ["hass.data['x']", "self._hass.data", "a.hass.data"])
def test_hass_data_is_found(source: str) -> None:
    assert "left:1" in _report(architecture.uses_of_hass_data({"left": source}))
