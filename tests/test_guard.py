"""The one door to Home Assistant's actions."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from homeassistant.core import (
    Context,
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
)
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
)
import voluptuous as vol

from custom_components.proactive_agent.engine.errors import (
    ActionRefusedError,
    CutReason,
    RefusalKind,
    RunCutError,
)
from custom_components.proactive_agent.engine.records import ActionRecord, ActionStatus
from custom_components.proactive_agent.guard.guard import (
    WAITS,
    WOULD_ASK,
    Action,
    Guard,
    Terms,
)
from custom_components.proactive_agent.guard.past_actions import PastActions
from custom_components.proactive_agent.home.home import Reach

from .support.consent import Owner
from .support.home import async_make_home

LAMP_ON = Action(domain="light", service="turn_on", entity_id=("light.lamp",))
LAMP_OFF = Action(domain="light", service="turn_off", entity_id=("light.lamp",))
FEED = Action(
    domain="script",
    service="feed",
    entity_id=("script.feed",),
    data={"food": "meal"},
)
UNLOCK = Action(domain="lock", service="unlock", entity_id=("lock.front",))
VALVE = Action(domain="script", service="valve", entity_id=("script.valve",))

type MakeGuard = Callable[..., Guard]


class World:
    """What the tests turn and look at."""

    def __init__(self, hass: HomeAssistant) -> None:
        self.reach = Reach(
            act=(
                "cover.all_covers",
                "cover.blind",
                "cover.garage",
                "light.all_lamps",
                "light.dimmer",
                "light.lamp",
                "lock.all_locks",
                "lock.front",
                "script.feed",
                "script.valve",
            ),
            ask=("switch.plug",),
        )
        self.context = Context()
        self.lock = asyncio.Lock()
        self.settled: list[tuple[int, ActionRecord]] = []
        self.calls = async_capture_events(hass, "call_service")

    def called(self) -> list[str]:
        """Return what went through the door, by this run's context."""
        return [
            f"{event.data['domain']}.{event.data['service']}"
            for event in self.calls
            if event.context is self.context
        ]


@pytest.fixture
async def world(hass: HomeAssistant) -> World:
    await async_make_home(hass)
    return World(hass)


@pytest.fixture
def make_guard(hass: HomeAssistant, world: World) -> MakeGuard:
    def make(
        *,
        ask_before_risky: bool = True,
        max_actions: int = 10,
        dry_run: bool = False,
        **changes: Any,
    ) -> Guard:
        return Guard(
            hass,
            **{
                "context": world.context,
                "terms": Terms(
                    permitted=lambda: world.reach,
                    ask_before_risky=ask_before_risky,
                    max_actions=max_actions,
                    dry_run=dry_run,
                ),
                "lock": world.lock,
                "on_settled": lambda index, record: world.settled.append(
                    (index, record)
                ),
                "consent": Owner(),
                "past_actions": PastActions(hass),
                **changes,
            },
        )

    return make


class Gated:
    """A service that waits until it is let go."""

    def __init__(self, hass: HomeAssistant, domain: str, service: str) -> None:
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.contexts: list[str] = []
        hass.services.async_register(domain, service, self._handle)

    async def _handle(self, call: ServiceCall) -> None:
        self.contexts.append(call.context.id)
        self.entered.set()
        await self.gate.wait()


@pytest.mark.contract("A6")
async def test_an_action_is_called_once_and_what_is_seen_is_reported(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    record, response = await guard.act(LAMP_ON)
    assert world.called()[0] == "light.turn_on"
    assert record == ActionRecord(
        action="light.turn_on",
        entity_id=("light.lamp",),
        data={},
        status=ActionStatus.DONE,
        observed={"light.lamp": hass.states.get("light.lamp").state},  # type: ignore[union-attr]
    )
    assert response is None
    assert guard.actions == (record,)
    assert not world.lock.locked()


async def test_a_script_is_called_by_its_name_and_answers(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    fed = async_capture_events(hass, "fed")
    record, response = await make_guard().act(
        Action(
            domain="script",
            service="feed",
            entity_id=("script.feed",),
            data={"food": "meal"},
        )
    )
    assert (record.action, record.entity_id) == ("script.feed", ("script.feed",))
    assert response == {"eaten": "meal"}
    assert fed[0].data == {"food": "meal"}
    assert fed[0].context is world.context
    assert world.calls[0].data["service_data"] == {"food": "meal"}


async def test_a_renamed_script_keeps_its_action(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    er.async_get(hass).async_update_entity(
        "script.feed", new_entity_id="script.feed_the_pet"
    )
    await hass.async_block_till_done()
    world.reach = Reach(act=("script.feed_the_pet",))
    action = Action(
        domain="script",
        service="feed",
        entity_id=("script.feed_the_pet",),
        data={"food": "snack"},
    )
    await make_guard().act(action)
    assert world.called() == ["script.feed"]


@pytest.mark.contract("A8")
async def test_every_action_carries_the_context_of_the_run(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    await guard.act(LAMP_ON)
    await guard.act(LAMP_OFF)
    assert {event.context.id for event in world.calls} == {world.context.id}


async def refused(
    guard: Guard, action: Action, kind: RefusalKind = RefusalKind.NOT_ALLOWED
) -> str:
    with pytest.raises(ActionRefusedError) as caught:
        await guard.act(action)
    assert caught.value.kind is kind
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.contract("A1")
@pytest.mark.parametrize(
    "entity_ids",
    [
        (),
        ("input_boolean.lamp",),
        ("light.lamp", "input_boolean.lamp"),
        ("Light.Lamp",),
        ("LIGHT.LAMP",),
        (" light.lamp",),
        ("light.lamp ",),
        ("light.lamp, lock.front",),
        ("all",),
        ("none",),
        ("light.*",),
        ("light.missing",),
        ("{{ 'light.lamp' }}",),
        ("",),
        ("kitchen",),
        ("light.lamp\n",),
        ("x" * 1_000_000,),
    ],
)
async def test_only_literal_ids_of_the_owners_lists_are_taken(
    world: World, make_guard: MakeGuard, entity_ids: tuple[str, ...]
) -> None:
    guard = make_guard(ask_before_risky=False)
    action = Action(domain="light", service="turn_on", entity_id=entity_ids)
    sentence = await refused(guard, action)
    assert len(sentence) < 200
    assert world.calls == []
    assert guard.actions == ()


@pytest.mark.contract("A1")
@pytest.mark.parametrize(
    "data",
    [
        {"entity_id": "all"},
        {"entity_id": ["lock.front"]},
        {"device_id": ["abc"]},
        {"area_id": "kitchen"},
        {"floor_id": "ground"},
        {"label_id": ["careful"]},
    ],
)
async def test_data_cannot_widen_the_target(
    world: World, make_guard: MakeGuard, data: dict[str, Any]
) -> None:
    action = Action(
        domain="light", service="turn_on", entity_id=("light.lamp",), data=data
    )
    await refused(make_guard(ask_before_risky=False), action)
    assert world.calls == []


@pytest.mark.contract("A1")
async def test_a_template_in_data_is_only_text(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    fed = async_capture_events(hass, "fed")
    text = "{{ states('sensor.outside') }} {% if true %}x{% endif %}"
    world.reach = Reach(look=("sensor.outside",), act=("script.feed", "sensor.outside"))
    action = Action(
        domain="script",
        service="feed",
        entity_id=("script.feed",),
        data={"food": text},
    )
    await make_guard().act(action)
    assert world.calls[0].data["service_data"] == {"food": text}
    assert fed[0].data == {"food": text}


@pytest.mark.contract("A2")
@pytest.mark.parametrize(
    ("domain", "service"),
    [
        ("homeassistant", "turn_on"),
        ("homeassistant", "restart"),
        ("light", "toggle"),
        ("script", "turn_on"),
        ("notify", "send_message"),
        ("tts", "speak"),
        ("conversation", "process"),
        ("proactive_agent", "wake"),
    ],
)
async def test_some_actions_never_pass(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    domain: str,
    service: str,
) -> None:
    if not hass.services.has_service(domain, service):
        Gated(hass, domain, service)
    action = Action(domain=domain, service=service, entity_id=("light.lamp",))
    with pytest.raises(ActionRefusedError):
        await make_guard(ask_before_risky=domain == "proactive_agent").act(action)
    assert world.calls == []


@pytest.mark.contract("A2")
async def test_our_own_switch_hidden_in_a_group_is_denied(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    own = er.async_get(hass).async_get_or_create("light", "proactive_agent", "x")
    hass.states.async_set(own.entity_id, "on")
    hass.states.async_set(
        "group.sly", "on", {"entity_id": ["light.lamp", own.entity_id]}
    )
    world.reach = Reach(act=("group.sly", own.entity_id))
    guard = make_guard(ask_before_risky=False)
    for entity_id in world.reach.act:
        await refused(
            guard, Action(domain="light", service="turn_on", entity_id=(entity_id,))
        )
    assert world.calls == []


@pytest.mark.parametrize(
    "action",
    [
        Action(domain="lock", service="unlock", entity_id=("lock.front",)),
        Action(domain="lock", service="unlock", entity_id=("lock.all_locks",)),
        Action(domain="cover", service="open_cover", entity_id=("cover.garage",)),
        Action(domain="cover", service="open_cover", entity_id=("cover.all_covers",)),
        Action(
            domain="cover",
            service="open_cover",
            entity_id=("cover.blind", "cover.garage"),
        ),
        Action(domain="switch", service="turn_on", entity_id=("switch.plug",)),
        Action(
            domain="script",
            service="feed",
            entity_id=("script.feed",),
            must_ask=True,
        ),
    ],
)
@pytest.mark.contract("P1")
async def test_what_needs_a_yes_is_asked_and_not_done(
    world: World, make_guard: MakeGuard, action: Action
) -> None:
    owner = Owner()
    guard = make_guard(consent=owner)
    record, response = await guard.act(action)
    assert owner.asked == [(action, 0)]
    assert (record.status, record.note, record.error) == (
        ActionStatus.WAITING,
        WAITS,
        None,
    )
    assert response is None
    assert guard.actions == (record,)
    assert world.calls == []
    assert not world.lock.locked()


@pytest.mark.contract("P1")
async def test_what_cannot_be_asked_has_failed_and_counts(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard(consent=Owner(RefusalKind.NOT_WRITTEN), max_actions=1)
    sentence = await refused(guard, UNLOCK, RefusalKind.NOT_WRITTEN)
    (record,) = guard.actions
    assert (record.status, record.error) == (ActionStatus.FAILED, sentence)
    assert record.note is None
    with pytest.raises(RunCutError):
        await guard.act(LAMP_ON)
    assert world.calls == []


@pytest.mark.contract("P5")
async def test_what_was_asked_before_is_no_action_at_all(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard(consent=Owner(RefusalKind.REPEATED), max_actions=1)
    await refused(guard, UNLOCK, RefusalKind.REPEATED)
    assert guard.actions == ()
    await guard.act(LAMP_ON)
    assert world.called()[0] == "light.turn_on"


@pytest.mark.contract("A9")
async def test_in_a_dry_run_nobody_is_asked(
    world: World, make_guard: MakeGuard
) -> None:
    owner = Owner()
    record, _ = await make_guard(dry_run=True, consent=owner).act(UNLOCK)
    assert (record.status, record.note) == (ActionStatus.NOT_DONE, WOULD_ASK)
    assert owner.asked == []


@pytest.mark.contract("F6", "C5")
async def test_a_run_that_is_closed_while_it_asks_goes_no_further(
    world: World, make_guard: MakeGuard
) -> None:
    class Closing(Owner):
        async def async_ask(self, *asked: Any) -> None:
            await super().async_ask(*asked)
            guard.close()

    guard = make_guard(consent=Closing())
    with pytest.raises(RunCutError) as caught:
        await guard.act(UNLOCK)
    assert caught.value.kind is CutReason.STOPPED
    assert world.calls == []


class Yes:
    """A yes, and what happens to it while it is written down."""

    def __init__(
        self,
        *,
        meanwhile: Callable[[], object] = lambda: None,
        refused: RefusalKind | None = None,
        changed: bool = False,
    ) -> None:
        self.begun = 0
        self.refused = refused
        self.changed = changed
        self._meanwhile = meanwhile

    async def async_begin(self) -> None:
        self.begun += 1
        if self.refused is not None:
            raise ActionRefusedError(self.refused, "It must not begin.")
        self._meanwhile()

    def check(self) -> None:
        if self.changed:
            raise ActionRefusedError(RefusalKind.CHANGED, "It has changed.")


@pytest.mark.contract("P3", "A5", "A8")
async def test_what_has_its_yes_is_done_and_looked_at(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    guard, yes = make_guard(max_actions=0), Yes()
    record, _ = await guard.act_with(yes, UNLOCK)
    assert yes.begun == 1
    assert record.status is ActionStatus.DONE
    assert record.observed == {"lock.front": hass.states.get("lock.front").state}  # type: ignore[union-attr]
    assert world.called()[0] == "lock.unlock"
    assert world.calls[0].context is world.context
    assert not world.lock.locked()


@pytest.mark.contract("P3", "D1")
async def test_what_cannot_be_written_down_is_not_called(
    world: World, make_guard: MakeGuard
) -> None:
    yes = Yes(refused=RefusalKind.NOT_WRITTEN)
    with pytest.raises(ActionRefusedError) as caught:
        await make_guard().act_with(yes, UNLOCK)
    assert caught.value.kind is RefusalKind.NOT_WRITTEN
    assert world.calls == []
    assert not world.lock.locked()


@pytest.mark.contract("P4")
@pytest.mark.parametrize("change", ["taken out", "unavailable", "gone", "changed"])
@pytest.mark.parametrize("when", ["before", "in the queue", "at the disk"])
async def test_a_yes_holds_only_for_what_is_still_so(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, change: str, when: str
) -> None:
    yes, kind = Yes(), RefusalKind.UNAVAILABLE

    def happen() -> None:
        nonlocal kind
        match change:
            case "taken out":
                world.reach, kind = Reach(look=("lock.front",)), RefusalKind.NOT_ALLOWED
            case "unavailable":
                hass.states.async_set("lock.front", "unavailable")
            case "gone":
                hass.states.async_remove("lock.front")
            case "changed":
                yes.changed, kind = True, RefusalKind.CHANGED

    if when == "at the disk":
        yes = Yes(meanwhile=happen)
    if when == "before":
        happen()
    async with world.lock:
        acting = hass.async_create_task(make_guard().act_with(yes, UNLOCK))
        await asyncio.sleep(0)
        if when == "in the queue":
            happen()
    with pytest.raises(ActionRefusedError) as caught:
        await acting
    assert caught.value.kind is kind
    assert yes.begun == (1 if when == "at the disk" else 0)
    assert world.calls == []
    assert not world.lock.locked()


@pytest.mark.contract("F6")
@pytest.mark.parametrize("when", ["before", "in the queue", "at the disk"])
async def test_a_closed_door_lets_no_yes_through(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, when: str
) -> None:
    guard = make_guard()
    yes = Yes(meanwhile=guard.close) if when == "at the disk" else Yes()
    if when == "before":
        guard.close()
    async with world.lock:
        acting = hass.async_create_task(guard.act_with(yes, UNLOCK))
        await asyncio.sleep(0)
        if when == "in the queue":
            guard.close()
    with pytest.raises(RunCutError):
        await acting
    assert yes.begun == (1 if when == "at the disk" else 0)
    assert world.calls == []


@pytest.mark.contract("P4", "A5")
async def test_what_is_so_already_is_not_called_after_the_yes(
    world: World, make_guard: MakeGuard
) -> None:
    lock = Action(domain="lock", service="lock", entity_id=("lock.front",))
    record, _ = await make_guard().act_with(Yes(), lock)
    assert record.status is ActionStatus.ALREADY
    assert world.calls == []
    assert not world.lock.locked()


@pytest.mark.contract("C7", "P1")
async def test_what_needs_a_yes_only_by_now_is_not_done(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    async with world.lock:
        acting = hass.async_create_task(guard.act(LAMP_ON))
        await asyncio.sleep(0)
        world.reach = Reach(ask=("light.lamp",))
    with pytest.raises(ActionRefusedError) as caught:
        await acting
    assert caught.value.kind is RefusalKind.NOT_ALLOWED
    assert world.calls == []


@pytest.mark.contract("P1")
async def test_the_answer_to_a_request_stands_in_its_place(
    make_guard: MakeGuard,
) -> None:
    guard = make_guard()
    await guard.act(LAMP_ON)
    waiting, _ = await guard.act(UNLOCK)
    answered = replace(waiting, status=ActionStatus.DONE, answered_by="Ana")
    guard.answered(1, answered)
    assert guard.actions[1] == answered
    assert guard.actions[0].status is ActionStatus.DONE


async def test_a_group_with_a_member_in_ask_asks(
    world: World, make_guard: MakeGuard
) -> None:
    world.reach = Reach(act=("light.all_lamps", "light.lamp"), ask=("light.dimmer",))
    guard = make_guard(ask_before_risky=False)
    both = Action(domain="light", service="turn_on", entity_id=("light.all_lamps",))
    assert (await guard.act(both))[0].status is ActionStatus.WAITING
    await guard.act(LAMP_ON)
    assert world.called()[0] == "light.turn_on"


def _device(hass: HomeAssistant) -> str:
    entry = MockConfigEntry()
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={("test", "door")}
    )
    return device.id


def _filled(text: Any, **ids: str) -> Any:
    if not isinstance(text, str):
        return [_filled(one, **ids) for one in text] if type(text) is list else text
    for name, registry_id in ids.items():
        text = text.replace(f"{{{name}}}", registry_id)
    return text


@pytest.mark.contract("A3")
@pytest.mark.parametrize(
    "text",
    [
        "lock.front",
        "light.lamp, lock.front",
        "Lock.Front",
        ["light.lamp", "input_boolean.flag"],
        {"entity": "input_boolean.flag"},
        '["input_boolean.flag"]',
        "{{ 'x' if true else states('lock.front') }}",
        "(lock.front)",
        "look.lock.front",
        " ALL ",
        "{registry_id}",
        "{device_id}",
        ["light.lamp", "{registry_id}"],
    ],
)
async def test_no_script_gets_an_entity_that_was_not_chosen(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, text: Any
) -> None:
    world.reach = Reach(act=("script.feed", "light.lamp"))
    lock = er.async_get(hass).async_get("lock.front")
    assert lock is not None
    text = _filled(text, registry_id=lock.id, device_id=_device(hass))
    action = Action(
        domain="script",
        service="feed",
        entity_id=("script.feed",),
        data={"food": text},
    )
    await refused(make_guard(), action)
    assert world.calls == []


@pytest.mark.contract("A3")
async def test_entities_in_data_are_checked_like_targets(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    with_flag, with_plug = (
        Action(
            domain="light",
            service="turn_on",
            entity_id=("light.lamp",),
            named=(named,),
        )
        for named in ("input_boolean.flag", "switch.plug")
    )
    await refused(guard, with_flag)
    assert (await guard.act(with_plug))[0].status is ActionStatus.WAITING
    assert world.calls == []


@pytest.mark.contract("A2", "A3")
async def test_our_own_entities_are_denied_in_data_too(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    own = er.async_get(hass).async_get_or_create("light", "proactive_agent", "x")
    hass.states.async_set(own.entity_id, "on")
    world.reach = Reach(act=("light.lamp", own.entity_id))
    action = Action(
        domain="light",
        service="turn_on",
        entity_id=("light.lamp",),
        named=(own.entity_id,),
    )
    await refused(make_guard(ask_before_risky=False), action)
    assert world.calls == []


@pytest.mark.contract("A3")
@pytest.mark.parametrize("field", ["data", "named"])
@pytest.mark.parametrize("mentioned", ["switch.plug", "group.loop_b"])
async def test_a_script_for_an_entity_that_asks_has_to_ask_too(
    world: World, make_guard: MakeGuard, field: str, mentioned: str
) -> None:
    world.reach = Reach(act=("group.loop_b", "script.feed"), ask=("switch.plug",))
    fields: dict[str, Any] = {
        "data": {"data": {"food": f"For {mentioned.upper()}"}},
        "named": {"named": (mentioned,)},
    }
    action = Action(
        domain="script", service="feed", entity_id=("script.feed",), **fields[field]
    )
    guard = make_guard(ask_before_risky=False)
    assert (await guard.act(action))[0].status is ActionStatus.WAITING
    assert world.calls == []


@pytest.mark.contract("A3")
async def test_a_script_is_not_run_under_the_name_of_another(
    world: World, make_guard: MakeGuard
) -> None:
    action = Action(domain="script", service="unchosen", entity_id=("script.feed",))
    await refused(make_guard(ask_before_risky=False), action)
    assert world.calls == []


@pytest.mark.contract("A4")
@pytest.mark.parametrize("state", ["unavailable", None])
async def test_nothing_is_called_for_what_is_unavailable_or_gone(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, state: str | None
) -> None:
    if state is None:
        hass.states.async_remove("light.lamp")
    else:
        hass.states.async_set("light.lamp", state)
    guard = make_guard()
    sentence = await refused(guard, LAMP_ON, RefusalKind.UNAVAILABLE)
    assert "light.lamp" in sentence
    both = Action(
        domain="light", service="turn_on", entity_id=("light.dimmer", "light.lamp")
    )
    await refused(guard, both, RefusalKind.UNAVAILABLE)
    assert world.calls == []
    assert guard.actions == ()


async def test_an_action_that_is_gone_is_said_to_be(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    hass.services.async_remove("script", "valve")
    await refused(make_guard(), VALVE, RefusalKind.UNAVAILABLE)


@pytest.mark.contract("C7")
async def test_what_was_taken_out_of_the_lists_meanwhile_is_refused(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    await guard.act(LAMP_ON)
    world.reach = Reach(look=("light.lamp",))
    await refused(guard, LAMP_OFF)
    assert "light.turn_off" not in world.called()


@pytest.mark.contract("F5")
async def test_the_limit_counts_actions_and_requests(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard(max_actions=2)
    await guard.act(LAMP_ON)
    await guard.act(UNLOCK)
    for action in (LAMP_OFF, UNLOCK):
        with pytest.raises(RunCutError) as caught:
            await guard.act(action)
        assert caught.value.kind is CutReason.ACTION_LIMIT
    assert len(guard.actions) == 2
    assert "light.turn_off" not in world.called()


@pytest.mark.contract("F6")
async def test_a_closed_door_lets_nothing_through(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    guard.close()
    with pytest.raises(RunCutError) as caught:
        await guard.act(LAMP_ON)
    assert caught.value.kind is CutReason.STOPPED
    assert world.calls == []


@pytest.mark.contract("A9")
async def test_a_dry_run_checks_everything_and_calls_nothing(
    world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard(dry_run=True)
    record, response = await guard.act(LAMP_ON)
    assert (record.status, record.observed, response) == (
        ActionStatus.NOT_DONE,
        None,
        None,
    )
    await refused(
        guard,
        Action(domain="light", service="turn_on", entity_id=("switch.nope",)),
    )
    assert guard.actions == (record,)
    assert world.calls == []


@pytest.mark.contract("R4")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (HomeAssistantError("The lamp\nis broken"), "The lamp is broken"),
        (vol.Invalid("bad colour"), "bad colour"),
        (TimeoutError(), "it timed out"),
        (TimeoutError("too slow"), "too slow"),
        (KeyError(), "KeyError"),
        (RuntimeError("x" * 9_000), "x" * 300 + "…"),
    ],
)
async def test_a_failure_is_one_line_and_counts_as_failed(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    error: Exception,
    said: str,
) -> None:
    async def fail(call: ServiceCall) -> None:
        raise error

    hass.services.async_register("light", "turn_on", fail)
    guard = make_guard()
    sentence = await refused(guard, LAMP_ON, RefusalKind.FAILED)
    assert sentence == f"light.turn_on failed: {said}"
    (record,) = guard.actions
    assert record.status is ActionStatus.FAILED
    assert record.error == said
    assert record.observed == {"light.lamp": "off"}
    assert not world.lock.locked()


async def test_a_response_is_asked_for_where_there_can_be_one(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    def answer(call: ServiceCall) -> ServiceResponse:
        return {"asked": call.return_response}

    hass.services.async_register(
        "light", "turn_on", answer, supports_response=SupportsResponse.ONLY
    )
    _, response = await make_guard().act(LAMP_ON)
    assert response == {"asked": True}


@pytest.mark.contract("R8")
@pytest.mark.parametrize("by_closing", [True, False])
async def test_a_script_outlives_the_wait_and_comes_to_its_end(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, by_closing: bool
) -> None:
    waiting = Gated(hass, "test", "wait")
    opened = Gated(hass, "test", "open_valve")
    closed = Gated(hass, "test", "close_valve")
    opened.gate.set()
    closed.gate.set()
    guard = make_guard()
    run = hass.async_create_task(guard.act(VALVE))
    await waiting.entered.wait()
    (record,) = guard.actions
    assert record.status is ActionStatus.STILL_RUNNING
    if by_closing:
        guard.close()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert guard.actions == (record,)
    assert world.settled == []
    assert world.lock.locked()
    assert not closed.entered.is_set()

    waiting.gate.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert closed.entered.is_set()
    assert [(index, one.status) for index, one in world.settled] == [
        (0, ActionStatus.DONE)
    ]
    assert guard.actions == (world.settled[0][1],)
    assert not world.lock.locked()


@pytest.mark.contract("R8")
async def test_a_run_cut_while_its_action_ends_still_hears_of_the_end(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    wait = Gated(hass, "light", "turn_on")
    guard = make_guard()
    run = hass.async_create_task(guard.act(LAMP_ON))
    await wait.entered.wait()
    guard.close()
    wait.gate.set()
    await run
    assert [index for index, _ in world.settled] == [0]


@pytest.mark.contract("R8")
async def test_what_the_listener_raises_leaves_the_door_working(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def on_settled(index: int, record: ActionRecord) -> None:
        raise ValueError("no room in the log")

    wait = Gated(hass, "light", "turn_on")
    run = hass.async_create_task(make_guard(on_settled=on_settled).act(LAMP_ON))
    await wait.entered.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    wait.gate.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    assert not world.lock.locked()
    assert "What became of light.turn_on could not be noted" in caplog.text
    caplog.clear()


@pytest.mark.contract("R8")
async def test_a_shutdown_is_recorded_as_a_cut(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    wait = Gated(hass, "light", "turn_on")
    guard = make_guard()
    run = hass.async_create_task(guard.act(LAMP_ON))
    await wait.entered.wait()
    await hass.async_stop(force=True)
    with pytest.raises(asyncio.CancelledError):
        await run
    (record,) = guard.actions
    assert (record.status, record.error) == (ActionStatus.FAILED, "It was cut off.")
    assert not world.lock.locked()


@pytest.mark.contract("A8")
async def test_one_action_at_a_time_also_across_runs(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    wait = Gated(hass, "light", "turn_on")
    first, second = make_guard(), make_guard()
    one = hass.async_create_task(first.act(LAMP_ON))
    await wait.entered.wait()
    two = hass.async_create_task(second.act(FEED))
    await asyncio.sleep(0)
    assert second.actions == ()
    wait.gate.set()
    assert (await one)[0].status is ActionStatus.DONE
    assert (await two)[0].status is ActionStatus.DONE
    assert world.called()[:2] == ["light.turn_on", "script.feed"]


@pytest.mark.contract("C5")
@pytest.mark.parametrize("change", ["closed", "taken out", "gone", "limit"])
async def test_everything_is_checked_again_after_the_wait(
    hass: HomeAssistant, world: World, make_guard: MakeGuard, change: str
) -> None:
    wait = Gated(hass, "light", "turn_on")
    guard = make_guard(max_actions=1) if change == "limit" else make_guard()
    other = guard if change == "limit" else make_guard()
    one = hass.async_create_task(other.act(LAMP_ON))
    await wait.entered.wait()
    expected: type[Exception] = ActionRefusedError
    if change == "limit":
        expected = RunCutError
    two = hass.async_create_task(guard.act(FEED))
    await asyncio.sleep(0)
    match change:
        case "closed":
            guard.close()
            expected = RunCutError
        case "taken out":
            world.reach = Reach()
        case "gone":
            hass.states.async_remove("script.feed")
    wait.gate.set()
    await one
    with pytest.raises(expected):
        await two
    assert "script.feed" not in world.called()
    assert not world.lock.locked()


@pytest.mark.contract("A5", "A8")
async def test_what_the_action_before_has_brought_about_is_not_done_again(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    first, second = make_guard(), make_guard()
    one = hass.async_create_task(first.act(LAMP_ON))
    two = hass.async_create_task(second.act(LAMP_ON))
    assert (await one)[0].status is ActionStatus.DONE
    assert (await two)[0].status is ActionStatus.ALREADY
    assert world.called()[0] == "light.turn_on"
    assert world.called().count("light.turn_on") == 1
    assert not world.lock.locked()


@pytest.mark.contract("A8")
async def test_giving_up_the_wait_for_the_lock_gives_nothing_away(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    guard = make_guard()
    async with world.lock:
        run = hass.async_create_task(guard.act(LAMP_ON))
        await asyncio.sleep(0)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert guard.actions == ()
    assert world.calls == []
    assert not world.lock.locked()


async def test_two_heartbeats_on_one_lamp_do_not_disturb_each_other(
    hass: HomeAssistant, world: World, make_guard: MakeGuard
) -> None:
    wait = Gated(hass, "light", "turn_on")
    contexts = [Context(), Context()]
    guards = [make_guard(context=context, lock=asyncio.Lock()) for context in contexts]
    runs = [hass.async_create_task(guard.act(LAMP_ON)) for guard in guards]
    await asyncio.sleep(0)
    assert wait.contexts == [context.id for context in contexts]
    wait.gate.set()
    for run, guard in zip(runs, guards, strict=True):
        record, _ = await run
        assert guard.actions == (record,)


FORECASTS = Action(
    domain="weather", service="get_forecasts", entity_id=("weather.here",)
)


@pytest.fixture
def forecasts(hass: HomeAssistant, world: World) -> list[ServiceCall]:
    """An action that only answers, for an entity that may only be seen."""
    hass.states.async_set("weather.here", "sunny")
    world.reach = Reach(look=("weather.here",), act=("light.lamp",))
    asked: list[ServiceCall] = []

    def answer(call: ServiceCall) -> ServiceResponse:
        asked.append(call)
        return {"weather.here": {"forecast": []}}

    hass.services.async_register(
        "weather", "get_forecasts", answer, supports_response=SupportsResponse.ONLY
    )
    return asked


@pytest.mark.contract("A9")
@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_reading_answers_and_is_no_action(
    world: World,
    make_guard: MakeGuard,
    forecasts: list[ServiceCall],
    dry_run: bool,
) -> None:
    guard = make_guard(dry_run=dry_run, max_actions=1)
    for _ in range(3):
        assert await guard.read(FORECASTS) == {"weather.here": {"forecast": []}}
    assert guard.actions == ()
    assert [call.context is world.context for call in forecasts] == [True] * 3
    assert forecasts[0].data == {"entity_id": ["weather.here"]}


@pytest.mark.contract("A1")
@pytest.mark.parametrize("kind", [SupportsResponse.NONE, SupportsResponse.OPTIONAL])
async def test_what_does_more_than_answer_is_no_reading(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    forecasts: list[ServiceCall],
    kind: SupportsResponse,
) -> None:
    hass.services.async_register(
        "weather", "get_forecasts", forecasts.append, supports_response=kind
    )
    with pytest.raises(ActionRefusedError) as caught:
        await make_guard().read(FORECASTS)
    assert caught.value.kind is RefusalKind.NOT_ALLOWED
    assert forecasts == []


@pytest.mark.contract("A1")
@pytest.mark.parametrize(
    ("domain", "service", "entity_ids", "data"),
    [
        ("weather", "get_forecasts", ("weather.there",), {}),
        ("weather", "get_forecasts", ("weather.here", "lock.front"), {}),
        ("weather", "get_forecasts", (), {}),
        ("weather", "get_forecasts", ("all",), {}),
        ("weather", "get_forecasts", ("weather.here",), {"area_id": "kitchen"}),
        ("weather", "get_forecasts", ("light.lamp",), {}),
        ("schlage", "get_codes", ("weather.here",), {}),
        ("light", "turn_on", ("light.lamp",), {}),
        ("script", "feed", ("script.feed",), {}),
        ("assist_satellite", "ask_question", ("weather.here",), {}),
        ("proactive_agent", "get_runs", ("weather.here",), {}),
        ("homeassistant", "get_forecasts", ("weather.here",), {}),
    ],
)
async def test_a_reading_looks_only_where_it_may(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    forecasts: list[ServiceCall],
    domain: str,
    service: str,
    entity_ids: tuple[str, ...],
    data: dict[str, Any],
) -> None:
    if not hass.services.has_service(domain, service):
        hass.services.async_register(
            domain, service, forecasts.append, supports_response=SupportsResponse.ONLY
        )
    action = Action(domain=domain, service=service, entity_id=entity_ids, data=data)
    with pytest.raises(ActionRefusedError) as caught:
        await make_guard().read(action)
    assert caught.value.kind is RefusalKind.NOT_ALLOWED
    assert world.calls == []


@pytest.mark.contract("A4")
@pytest.mark.parametrize("change", ["gone", "unavailable", "no such action"])
async def test_a_reading_of_what_is_not_there_is_refused(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    forecasts: list[ServiceCall],
    change: str,
) -> None:
    match change:
        case "gone":
            hass.states.async_remove("weather.here")
        case "unavailable":
            hass.states.async_set("weather.here", "unavailable")
        case _:
            hass.services.async_remove("weather", "get_forecasts")
    with pytest.raises(ActionRefusedError) as caught:
        await make_guard().read(FORECASTS)
    assert caught.value.kind is RefusalKind.UNAVAILABLE
    assert world.calls == []


async def test_a_reading_is_bounded_and_says_what_went_wrong(
    hass: HomeAssistant,
    world: World,
    make_guard: MakeGuard,
    forecasts: list[ServiceCall],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "custom_components.proactive_agent.guard.call.READING_TIMEOUT", 0.01
    )

    async def hang(call: ServiceCall) -> ServiceResponse:
        await asyncio.Event().wait()
        return None

    hass.services.async_register(
        "weather", "get_forecasts", hang, supports_response=SupportsResponse.ONLY
    )
    with pytest.raises(ActionRefusedError) as caught:
        await make_guard().read(FORECASTS)
    assert str(caught.value) == "weather.get_forecasts failed: it took too long"


@pytest.mark.contract("F6")
async def test_a_closed_door_lets_no_reading_through(
    world: World, make_guard: MakeGuard, forecasts: list[ServiceCall]
) -> None:
    guard = make_guard()
    guard.close()
    with pytest.raises(RunCutError):
        await guard.read(FORECASTS)
    assert world.calls == []
