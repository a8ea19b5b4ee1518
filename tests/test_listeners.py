"""Callbacks that are told of something."""

import pytest

from custom_components.proactive_agent.listeners import Listeners


def test_each_is_called_in_order_until_it_is_taken_off() -> None:
    listeners = Listeners[[str]]()
    heard: list[str] = []
    take_off = listeners.add(lambda word: heard.append(f"first {word}"))
    listeners.add(lambda word: heard.append(f"second {word}"))

    listeners.fire("a")
    take_off()
    listeners.fire("b")

    assert heard == ["first a", "second a", "second b"]


def test_one_that_fails_keeps_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("no good")

    listeners = Listeners[[]]()
    heard: list[bool] = []
    listeners.add(fail)
    listeners.add(lambda: heard.append(True))

    listeners.fire()

    assert heard == [True]
    assert "no good" in caplog.text
