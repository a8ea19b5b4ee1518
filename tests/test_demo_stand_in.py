"""The demo's stand-in model: what it decides from a request, and nothing else."""

import json
from typing import Any

from aiohttp import ClientSession
import pytest

from demo_house.stand_in import MODEL, completion, stand_in
from demo_house.stand_in_rules import Call, Decision, decide, readings

SYSTEM = {"role": "system", "content": "Look after one job in somebody's home."}
ENTITY_IDS = {"type": "array", "items": {"type": "string"}}
TOOLS: dict[str, dict[str, Any]] = {
    "feed": {"food": {"type": "string", "enum": ["meal", "snack"]}},
    "play": {},
    "get_state": {"entity_id": {"type": "string"}},
    "light_turn_off": {"entity_id": ENTITY_IDS},
    "tell_owner": {"message": {"type": "string"}},
}


def tool(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def home(*, hunger: str = "4.0", happy: str = "4.0", light: str = "off") -> str:
    return (
        "Check on Milonga.\n\nIt is Monday, 2026-11-30 12:00.\n\n"
        "You may act on:\n"
        f'- light.call_light "Call light": {light}, changed just now\n'
        '- script.feed "Feed Milonga": off, changed 3 h ago\n'
        "You may only look at:\n"
        f'- input_number.happy "Milonga happiness": {happy} hearts, min 0.0, max 4.0\n'
        f'- input_number.hunger "Milonga hunger": {hunger} hearts, min 0.0, max 4.0'
    )


class Talk:
    """A conversation with the stand-in, as the loop would have it."""

    def __init__(self, states: str, *, without: str = "") -> None:
        user = {"role": "user", "content": states}
        self.messages: list[dict[str, Any]] = [SYSTEM, user]
        self.tools = [tool(n, p) for n, p in TOOLS.items() if n != without]

    def next(self) -> Decision:
        return decide({"messages": self.messages, "tools": self.tools})

    def answer(self, decision: Decision, **answers: str) -> None:
        """Answer each call by its tool's name, "done" where nothing is given."""
        message = completion(len(self.messages), {}, decision)["choices"][0]["message"]
        self.messages.append(message)
        for call in message["tool_calls"]:
            content = answers.get(call["function"]["name"], '{"status": "done"}')
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": content}
            )


def names(decision: Decision) -> list[str]:
    return [call.name for call in decision.calls]


def test_a_pet_that_is_well_is_left_alone() -> None:
    decision = Talk(home(hunger="2.0", happy="2.0", light="on")).next()
    assert decision.calls == ()
    assert decision.text


@pytest.mark.parametrize("hunger", ["1.0", "0.0", "1", "0"])
def test_a_hungry_pet_gets_a_meal(hunger: str) -> None:
    assert Talk(home(hunger=hunger)).next().calls == (
        Call(name="feed", arguments={"food": "meal"}),
    )


def test_a_bored_pet_is_played_with() -> None:
    assert names(Talk(home(happy="1.0")).next()) == ["play"]


def test_both_needs_are_seen_to_in_one_turn() -> None:
    assert names(Talk(home(hunger="0.0", happy="1.0")).next()) == ["feed", "play"]


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    assert Talk(home(hunger="1.0"), without="feed").next().calls == ()


def test_it_looks_again_puts_out_the_light_tells_the_owner_and_ends() -> None:
    talk = Talk(home(hunger="1.0", light="on"))
    talk.answer(talk.next())

    look = talk.next()
    assert look.calls == (
        Call(name="get_state", arguments={"entity_id": "input_number.hunger"}),
        Call(name="light_turn_off", arguments={"entity_id": ["light.call_light"]}),
    )
    talk.answer(look, get_state='{"input_number.hunger": {"state": "4.0", "max": 9}}')

    tell = talk.next()
    assert names(tell) == ["tell_owner"]
    message = tell.calls[0].arguments["message"]
    assert "meal" in message
    assert "hunger is at 4 of 4 hearts" in message
    talk.answer(tell)

    assert talk.next().calls == ()


def test_a_light_that_is_off_is_left_alone() -> None:
    talk = Talk(home(hunger="1.0", light="off"))
    talk.answer(talk.next())
    assert names(talk.next()) == ["get_state"]


@pytest.mark.parametrize("answer", ['{"error": "no such food"}', "Error: no food"])
def test_it_does_not_claim_what_a_tool_denied(answer: str) -> None:
    talk = Talk(home(hunger="1.0"))
    talk.answer(talk.next(), feed=answer)
    talk.answer(talk.next(), get_state='{"state": "1.0"}')
    assert "failed" in talk.next().calls[0].arguments["message"]


def test_without_a_reading_it_names_no_number() -> None:
    talk = Talk(home(hunger="1.0"), without="get_state")
    talk.answer(talk.next())
    message = talk.next().calls[0].arguments["message"]
    assert not any(character.isdigit() for character in message)


def test_it_proves_that_it_can_call_whatever_tool_there_is() -> None:
    schema = {
        "mood": {"type": "string", "enum": ["calm", "wild"]},
        "often": {"type": "integer"},
        "who": ENTITY_IDS,
    }
    request = {
        "messages": [{"role": "user", "content": "Call the tool."}],
        "tools": [tool("probe", schema)],
    }
    assert decide(request).calls == (
        Call(name="probe", arguments={"mood": "calm", "often": 1, "who": ["ok"]}),
    )


def test_a_request_without_tools_is_answered_in_words() -> None:
    assert decide({"messages": [{"role": "user", "content": "Hello"}]}).text


def test_readings_survive_another_way_to_write_states() -> None:
    text = '{"input_number.hunger": {"state": "1.0"}, "light.call_light": "on"}'
    assert readings(text).keys() == {"input_number.hunger", "light.call_light"}
    assert names(Talk(text).next()) == ["feed"]


async def test_the_server_lists_its_model_and_counts_what_it_is_asked(
    socket_enabled: None,
) -> None:
    body = {"model": MODEL, "messages": [{"role": "user", "content": home()}]}
    async with stand_in() as server, ClientSession() as session:
        async with session.get(f"{server.url}/models") as answer:
            assert [one["id"] for one in (await answer.json())["data"]] == [MODEL]
        assert server.meter.requests == 0
        async with session.post(f"{server.url}/chat/completions", json=body) as answer:
            usage = (await answer.json())["usage"]
        assert server.meter.requests == 1
        assert server.meter.tokens == usage["total_tokens"] > 0


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (json.dumps({"model": "another", "messages": []}), 404),
        ("not JSON", 400),
        ("[]", 400),
    ],
)
async def test_the_server_refuses_what_it_cannot_answer(
    socket_enabled: None, body: str, status: int
) -> None:
    async with (
        stand_in() as server,
        ClientSession() as session,
        session.post(f"{server.url}/chat/completions", data=body) as answer,
    ):
        assert answer.status == status
        assert (await answer.json())["error"]["message"]
