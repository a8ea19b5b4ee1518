from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.wire import normalise_url

BASE = "http://box:11434/v1"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (BASE, BASE),
        (f"  {BASE}/ \n", BASE),
        ("box:11434", BASE),
        ("http://box:11434", BASE),
        ("HTTP://BOX:11434//v1//", BASE),
        (f"{BASE}/chat/completions", BASE),
        (f"{BASE}/chat/completions/?stream=1#top", BASE),
        (f"{BASE}/completions", BASE),
        (f"{BASE}/models", BASE),
        (f"{BASE}/responses", BASE),
        ("http://box:11434/models", BASE),
        ("api.example.com", "http://api.example.com/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("https://x.example/v1beta/openai/", "https://x.example/v1beta/openai"),
        ("https://webui.example/api", "https://webui.example/api"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://[::1]", "http://[::1]/v1"),
        ("http://bücher.example", "http://bücher.example/v1"),
        ("http://my_box.local:80/v1", "http://my_box.local:80/v1"),
    ],
)
def test_what_an_owner_types(typed: str, meant: str) -> None:
    assert normalise_url(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "http://",
        "https:///v1",
        "http:/box/v1",
        "ftp://box/v1",
        "://box",
        "http://a b/v1",
        "http://box/v 1",
        "http://box:port/v1",
        "http://box:99999/v1",
        "http://[::g]/v1",
        "http://[::1/v1",
        "http://owner:secret@box/v1",
        "mailto:owner@example.com",
        "http://box\\v1",
        "http://<box>/v1",
    ],
)
def test_what_is_no_url(typed: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normalise_url(typed)


PIECES = st.sampled_from(
    [
        *("http://", "https://", "box", ":80", "/", "//", "v1", "/models", "?", "#"),
        *("@", "/chat", "/completions", "/responses", " ", "[::1]", "İ", "ß", "."),
    ]
)


@given(st.text() | st.lists(PIECES, max_size=8).map("".join))
def test_put_right_once_is_put_right(typed: str) -> None:
    try:
        once = normalise_url(typed)
    except ValueError:
        return
    assert normalise_url(once) == once
    assert once.startswith(("http://", "https://"))
    assert not once.endswith("/")
