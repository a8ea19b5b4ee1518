"""The demo's proxy before a real model: it counts, and changes nothing."""

from aiohttp import ClientSession
import pytest

from demo_house.errors import DemoError
from demo_house.house import free_port
from demo_house.proxy import counted
from demo_house.stand_in import MODEL, stand_in

CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}]}


async def test_it_passes_on_and_counts_only_what_is_asked_of_the_model(
    socket_enabled: None,
) -> None:
    async with (
        stand_in() as real,
        counted(real.url, MODEL, "key") as proxy,
        ClientSession() as session,
    ):
        async with session.get(f"{proxy.url}/models") as answer:
            assert (await answer.json())["data"][0]["id"] == MODEL
        assert proxy.meter.requests == 0
        async with session.post(f"{proxy.url}/chat/completions", json=CHAT) as answer:
            assert (await answer.json())["choices"]
        assert proxy.meter == real.meter
        assert proxy.meter.requests == 1


async def test_it_passes_a_refusal_on(socket_enabled: None) -> None:
    async with (
        stand_in() as real,
        counted(real.url, "another", "") as proxy,
        ClientSession() as session,
        session.post(
            f"{proxy.url}/chat/completions", json=CHAT | {"model": "another"}
        ) as answer,
    ):
        assert answer.status == 404
        assert "not found" in (await answer.json())["error"]["message"]
        assert proxy.meter.tokens == 0


async def test_a_server_that_is_not_there_is_said_to_be_not_there(
    socket_enabled: None,
) -> None:
    async with (
        counted(f"http://127.0.0.1:{free_port()}/v1", MODEL, "") as proxy,
        ClientSession() as session,
        session.get(f"{proxy.url}/models") as answer,
    ):
        assert answer.status == 502
        assert "Cannot connect" in await answer.text()


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host/v1", "http://"])
async def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(DemoError, match="--llm-url"):
        async with counted(url, MODEL, ""):
            pass
