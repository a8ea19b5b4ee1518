"""No key is shown, in whatever form a server echoes it."""

from base64 import b64encode, urlsafe_b64encode
import html
import json
import time
from urllib.parse import quote as percent, quote_plus

from hypothesis import given, strategies as st
import pytest

from custom_components.proactive_agent.engine.wire.secrets import mask, quote

KEY = "Owner/Key+42=Zoë&x"
PLAIN = "tiger-lily-99"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        KEY.lower(),
        KEY.upper(),
        percent(KEY, safe=""),
        percent(percent(KEY, safe=""), safe=""),
        percent(KEY, safe="").lower(),
        json.dumps(KEY),
        json.dumps(KEY, ensure_ascii=False).replace("/", "\\/"),
        html.escape(KEY),
        KEY.replace("+", "&#43;").replace("/", "&#x2f;"),
        b64encode(KEY.encode()).decode(),
        b64encode(f":{KEY}".encode()).decode(),
        b64encode(f"me:{KEY}".encode()).decode(),
        urlsafe_b64encode(f"ab:{KEY}:cd".encode()).decode(),
        f"Basic {b64encode(f'user:{KEY}'.encode()).decode()}",
        f"Bearer {KEY}",
        f"https://box/v1?key={percent(KEY)}&x=1",
    ],
)
def test_a_key_in_another_form(text: str) -> None:
    for said in (text, f"bad key: {text}, sorry", f"x={text}"):
        masked = mask(said, KEY)
        assert "***" in masked
        for part in (KEY, "Owner", "owner", "OWNER", "Key", "42", text):
            assert part not in masked


@pytest.mark.parametrize(
    "text",
    [
        "tige*****y-99",
        "tig...-99",
        "tiger…99",
        "key ti[REDACTED]99 is no key",
        "****ly-99",
        "tiger-li****",
        "•••••ly-99",
        "it is cut off: tiger-lil",
    ],
)
def test_a_key_in_part(text: str) -> None:
    masked = mask(text, PLAIN)
    assert "***" in masked
    for part in ("tig", "ti[", "99", "lil"):
        assert part not in masked


@pytest.mark.parametrize(
    "text",
    [
        "wait...then try again",
        "see tiger...page",
        "a **bold** word",
        "dGhpcyBpcyBubyBrZXkgYXQgYWxs",
        "temperature is not supported",
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert mask(text, "another-key-1") == text
    assert mask(text, "") == text
    assert mask(text, "abc") == text


def test_a_key_of_several_words() -> None:
    for said in (
        "two\r\nlines",
        "two lines",
        "two%20lines",
        "two+lines",
        r"two\nlines",
    ):
        assert quote(f"bad header {said}!", "two\r\nlines") == "bad header ***!"


@pytest.mark.parametrize(
    "letter", ["a", "a1", "*", "a*", "-", ".", "a.", "%", " ", "é", "="]
)
def test_it_takes_no_time(letter: str) -> None:
    began = time.monotonic()
    quote(letter * 4_000_000, PLAIN)
    quote("f" * 100_000 + letter * 100_000, PLAIN)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "key",
    ["sk-" + "aB3x" * 20, "+/=" * 20, "\\" * 20 + "a", "&%" * 20, "two words " * 8],
)
def test_a_key_that_is_only_begun_takes_no_time(key: str) -> None:
    began = time.monotonic()
    for length in range(8, len(key)):
        quote(f"Wrong key: {key[:length]}! {'You find your key there. ' * 9}", key)
    quote(f"{key[:-1]} " * 99, key)
    assert time.monotonic() - began < 2


@given(
    st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Z"]), min_size=4, max_size=40
    ),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_no_key_is_ever_quoted(key: str, before: str, after: str) -> None:
    for form in (key, percent(key, safe=""), quote_plus(key), json.dumps(key)):
        masked = mask(f"{before}{form}{after}", key)
        assert key not in masked.replace("***", "\0")
