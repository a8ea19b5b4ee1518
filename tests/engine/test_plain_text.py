import re
import time
import unicodedata

from hypothesis import example, given, settings, strategies as st
import pytest

from custom_components.proactive_agent.engine.plain_text import (
    MAX_LENGTH,
    message_line,
    plain_line,
    shorten,
)

pytestmark = pytest.mark.contract("S6")

# What a browser, or a Markdown reader, would take for a tag.
TAG = re.compile(r"<[a-z/!?]", re.IGNORECASE)

FAMILY = "👨\u200d👩\u200d👧"

NASTY = {
    # HTML
    "<b>Fed</b> her": "Fed her",
    "<p>Fed</p><p>Played</p>": "Fed Played",
    "Fed<br>her<br/>well": "Fed her well",
    '<img src="http://evil/x.png" onerror="go()">Fed': "Fed",
    '<img alt="a>b" src=x>Fed': 'b" src=x>Fed',
    "<script>steal()</script>Fed": "Fed",
    "<SCRIPT\n>steal()</script >Fed": "Fed",
    "Fed <script>never closed": "Fed",
    "<style>body{}</style>Fed": "Fed",
    "<svg onload=go()><circle/></svg>Fed": "Fed",
    "<iframe src=//evil></iframe>Fed": "Fed",
    "Fed <!-- not for you -->her": "Fed her",
    "Fed <!-- never closed": "Fed",
    "<!DOCTYPE html><?xml version='1'?>Fed": "Fed",
    "<![CDATA[Fed]]>": "",
    "Fed <img src=x onerror=go()": "Fed img src=x onerror=go()",
    "<scr<b>ipt>steal()</scr</b>ipt>Fed": "steal() Fed",
    "<<b>img src=x>Fed": "Fed",
    "<my-element onclick=go()>Fed</my-element>": "Fed",
    '<a href="javascript:go()">Fed</a>': "Fed",
    # Entities
    "&lt;img src=x&gt;Fed": "Fed",
    "&amp;lt;img src=x&amp;gt;Fed": "Fed",
    "&#60;b&#62;Fed&#x3c;/b&#x3E;": "Fed",
    "&ltb&gtFed": "Fed",
    "Salt &amp; pepper": "Salt & pepper",
    "21&nbsp;&deg;C": "21 °C",
    "java&#8203;script&colon;go() Fed": "Fed",
    f"&#{'9' * 6000};Fed": "Fed",
    "Fed&#10;her": "Fed her",
    # Markdown
    "![pet](http://evil/pet.png) Fed": "pet Fed",
    "![](http://evil/pet.png)Fed": "Fed",
    "[Fed](http://evil/x)": "Fed",
    "[Fed](<http://evil/a b>)": "Fed",
    '[Fed](http://evil/x "a (title)") well': "Fed well",
    "[Fed](/relative/path) her": "Fed her",
    "[Fed][1] her\n\n[1]: http://evil/x 'title'": "Fed her",
    "[Fed][] her\n[Fed]: <//evil/x>": "Fed her",
    "![pet] Fed\n[pet]: /local/pet.png": "pet Fed",
    "[![pet](http://evil/pet.png)](http://evil) Fed": "pet Fed",
    "[a [b] c](http://evil/x) Fed": "[a [b] c] Fed",
    "[[Fed](http://a)](http://b)": "Fed",
    "[Fed](never closed": "[Fed (never closed",
    "[Fed][never closed": "[Fed [never closed",
    "<http://evil/x> Fed": "Fed",
    "<mailto:me@evil.example> Fed": "Fed",
    "# Report\n\nFed her": "Report Fed her",
    "Report\n======\nFed her": "Report Fed her",
    "- Fed\n* Played\n+ Slept": "Fed Played Slept",
    "> Fed\n>> her": "Fed her",
    "Fed\n\n---\n\nPlayed": "Fed Played",
    "```json\nFed\n```": "Fed",
    "`light.turn_on` done": "light.turn_on done",
    "``a `` b": "a b",
    "**Fed** *her* ***well*** ~~not~~": "Fed her well not",
    "__Fed__ _her_ ___well___": "Fed her well",
    "**Milonga:** fed _with a snack_.": "Milonga: fed with a snack.",
    "**a *b* c**": "a b c",
    "**Fed\nher**": "Fed her",
    # Addresses
    "See https://evil.example/x?y=1#z now": "See now",
    "See (https://evil.example/x).": "See",
    "See HTTP://EVIL.example": "See",
    "See www.evil.example now": "See now",
    "homeassistant://navigate/x Fed": "Fed",
    "javascript:go() Fed": "Fed",
    "JavaScript:go() vbscript:go() Fed": "Fed",
    "data:text/html,go Fed": "Fed",
    "data:image/png;base64,AAAA Fed": "Fed",
    "data:,go Fed": "Fed",
    "mailto:me@evil.example Fed": "Fed",
    "java\u200bscript:go() Fed": "Fed",
    "htt\u200dp://evil.example Fed": "Fed",
    "x:/</a Fed": "Fed",
    "请看https://evil.example/x。好了": "请看。好了",
    # Mentions
    "@everyone Fed": "everyone Fed",
    "Fed (@here), @@me": "Fed (here), me",
    "&#64;everyone Fed": "everyone Fed",
    "<@123456> <@!123> <@&9> Fed": "Fed",
    "<!channel> <!subteam^S1|team> Fed": "Fed",
    "<#C123|general> <:cat:123> Fed": "Fed",
    "<@123456 Fed": "123456 Fed",
    # What cannot be seen, and lines
    "Fed\u3164\uffa0\u2800\u115f\u1160her\u3164": "Fed her",
    "Fed\u202eher\u2066\u2069": "Fedher",
    "\ufeffFed\u200b her\u00ad": "Fed her",
    "Fed\r\nher\twell\v\f\x00\x1b[31m": "Fed her well [31m",
    "Fed\u2028her\u2029well\u0085now": "Fed her well now",
    "\ud800Fed\ue000": "Fed",
    "a\u200db \u200d\u200dc\u200d": "ab c",
    "   ": "",
    "": "",
}

PLAIN = [
    "5 < 7 and 9 > 3",
    "2 * 3 * 4 = 24",
    "2*3*4",
    "script.living_room_light",
    "sensor._private and a_b_c",
    "AT&T, R&D and Q&A",
    "Temp: 20 °C",
    "time: 7:30",
    "a/b",
    "-5 °C outside",
    "#1 of 3",
    "I <3 you",
    "100% (really) [sic] {ok}",
    "50 €, 3½ hours, «Füttern»",
    "~20 minutes, ~~",
    "Data: 5 rows, data:5",
    "Tel:112",
    "Look at 12:30 - then rest",
    "5 @ 3 €, me@home.example",
    "Milonga's hunger went from 1 to 4.",
    f"Fed the {FAMILY} ❤\ufe0f",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "猫にえさをやりました。",
    "…",
]

ADVERSARIAL = {
    "<": "<" * 20_000,
    "[": "[" * 20_000,
    "stars": "*a " * 10_000,
    "images": "![](" * 10_000,
    "comments": "<!--" * 10_000,
    "autolinks": "<a:" * 10_000,
    "schemes": "a." * 20_000,
    "newlines": "\n" * 20_000,
    "definitions": "[\n" * 10_000,
    "definition": "[a]: " + "a" * 20_000,
    "underscores": "_a" * 10_000,
    "underlined": "-_a" * 10_000,
    "spaced": " _a" * 10_000,
    "entities": "&amp;" * 10_000,
    "nested entities": "&" + "amp;" * 10_000,
    "ticks": "`a" * 10_000,
    "brackets": "[](" + "()" * 10_000,
    "parentheses": "[](()" * 10_000,
    "scripts": "<script " * 5_000,
    "tags": "<a " * 10_000,
    "tag": "<a" + " a" * 10_000,
    "joiners": "\u200d" * 20_000,
    "joined": "é\u200d\u200d" * 10_000,
    "data": "data:a/a" * 5_000,
    "parameters": "data:a/a" + ";a" * 10_000,
    "quotes": "> " * 10_000,
    "hashes": "#" * 20_000,
    "struck": "~~a " * 10_000,
    "bold": "*" * 20_000 + "a",
    "addresses": "://" * 10_000,
    "www": "www." * 10_000,
    "references": "[a][" * 10_000,
    "rules": "- " * 10_000 + "x",
    "nested links": "[" * 3_000 + "a" + "](b)" * 3_000,
    "nested stars": "".join(f"{'*' * (n % 3 + 1)}a " for n in range(5_000)),
    "long word": "a" * 20_000,
    "long text": "Milonga was fed. " * 10_000,
}


@pytest.mark.parametrize(("text", "line"), NASTY.items())
def test_markup_and_addresses_go_and_words_stay(text: str, line: str) -> None:
    assert plain_line(text) == line


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_sentence_stays_as_it_is(text: str) -> None:
    assert plain_line(text) == text


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_no_text_takes_long(text: str) -> None:
    before = time.perf_counter()

    line = plain_line(text)

    assert time.perf_counter() - before < 0.5
    assert_plain(line, MAX_LENGTH)


@pytest.mark.parametrize("depth", [2, 5, 8, 9, 30])
def test_however_deep_markup_is_nested_none_of_it_stays(depth: int) -> None:
    line = plain_line("[" * depth + "Fed" + "](http://evil/x)" * depth)

    assert line.startswith("Fed")
    assert_plain(line, MAX_LENGTH)
    assert "](" not in line


def test_a_tag_behind_many_layers_of_entities_is_no_tag() -> None:
    line = plain_line(f"&{'amp;' * 20}lt;img src=x onerror=go()&{'amp;' * 20}gt; Fed")

    assert_plain(line, MAX_LENGTH)
    assert line.endswith("Fed")


def test_a_long_text_is_cut_at_a_word() -> None:
    line = plain_line("Milonga was fed, and then played with. " * 20)

    assert len(line) <= MAX_LENGTH
    assert line.endswith("…")
    assert line[:-1].rsplit(" ", 1)[1] in {
        "Milonga", "was", "fed", "and", "then", "played", "with."
    }  # fmt: skip


COMMANDS = [
    "clear_notification",
    "request_location_update",
    "command_dnd",
    "command_2",
    "remove_channel",
    "delete_alert",
    "update_complications",
    "keep_screen_on",
    "TTS",
    "tts",
]


@pytest.mark.parametrize("wrapped", ["{}", " {}\n", "**{}**", "<b>{}</b>", "{}\u200b"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_message_is_no_command_to_an_app(command: str, wrapped: str) -> None:
    line = message_line(wrapped.format(command))

    assert line == f"{command}."
    assert message_line(line) == line
    assert message_line(command, "Answer here.") == f"{command} Answer here."
    assert message_line("", command) == f"{command}."


@pytest.mark.parametrize("limit", range(1, 5))
def test_not_even_a_command_that_just_fits_stays_one(limit: int) -> None:
    line = message_line("t_s"[:limit], limit=limit)

    assert len(line) <= limit
    assert line in {"t", "…", "t…", "t_…", "t_s."}


@pytest.mark.parametrize("text", ["Fed", "", "snake_case is fine", "TTS is off", "á_b"])
def test_what_is_no_command_stays_as_it_is(text: str) -> None:
    assert message_line(text) == text


@pytest.mark.parametrize(
    ("text", "ending", "limit", "line"),
    [
        ("Unlock the door?", "Answer here.", 255, "Unlock the door? Answer here."),
        ("Unlock the door?", "Answer here.", 29, "Unlock the door? Answer here."),
        ("Unlock the door?", "Answer here.", 28, "Unlock the… Answer here."),
        ("Unlock the door?", "Answer here.", 14, "… Answer here."),
        ("Unlock the door?", "Answer here.", 13, "Answer here."),
        ("Unlock the door?", "Answer here.", 8, "Answer…"),
        ("", "Answer here.", 255, "Answer here."),
        ("Unlock?", "<b></b>", 255, "Unlock?"),
    ],
)
def test_the_ending_stays_and_the_text_is_cut(
    text: str, ending: str, limit: int, line: str
) -> None:
    assert message_line(text, ending, limit) == line


@pytest.mark.parametrize(
    ("line", "limit", "cut"),
    [
        ("fits", 4, "fits"),
        ("", 1, ""),
        ("Fed her well", 12, "Fed her well"),
        ("Fed her well", 11, "Fed her…"),
        ("Fed her, well done", 10, "Fed her…"),
        ("Donaudampfschiff", 10, "Donaudamp…"),
        ("a Donaudampfschiff", 10, "a Donauda…"),
        ("ab", 1, "…"),
    ],
)
def test_a_line_is_cut_at_a_word_if_one_ends_near(
    line: str, limit: int, cut: str
) -> None:
    assert shorten(line, limit) == cut


def assert_plain(line: str, limit: int) -> None:
    assert len(line) <= limit
    assert "://" not in line
    assert not TAG.search(line)
    assert not re.search(r"!?\[[^\[\]]*\]\([^()]*\)", line)
    assert line == " ".join(line.split())
    categories = {unicodedata.category(char) for char in line} - {"Cf"}
    assert categories.isdisjoint({"Cc", "Zl", "Zp", "Cs", "Co"})
    hidden = {char for char in line if unicodedata.category(char) == "Cf"}
    assert hidden <= {"\u200c", "\u200d"}


PIECES = st.sampled_from([
    *"<>[]()!*_~`#&;:/-=|.\n\t \"'ab1é好\u200b\u200d\u202e…",
    *("<b>", "</b>", "<!--", "-->", "<script>", "</script>", "http://x", "://"),
    *("](", "![", "**", "__", "~~", "```", "&lt;", "&gt;", "&amp;", "&#60;", "&#10;"),
    *("javascript:", "data:", "www.", "[a]: /b", "\n- ", "\n> ", "\n# ", FAMILY),
])  # fmt: skip


@given(
    text=st.text() | st.lists(PIECES, max_size=60).map("".join),
    limit=st.integers(1, 300),
)
@example(text="*a*" + "b" * 300, limit=4)
@example(text="[a]: /" + "b" * 300, limit=255)
@example(text="\u200d".join("é" * 10), limit=6)
@settings(deadline=None)
def test_whatever_is_said_comes_out_as_one_plain_line(text: str, limit: int) -> None:
    line = plain_line(text, limit)

    assert_plain(line, limit)
    assert plain_line(line, limit) == line


@given(
    text=st.text() | st.lists(PIECES, max_size=60).map("".join),
    ending=st.text() | st.lists(PIECES, max_size=20).map("".join),
    limit=st.integers(1, 300),
)
@example(text="[a", ending="b]: /c", limit=255)
@example(text="*a", ending="b*", limit=255)
@settings(deadline=None)
def test_whatever_a_message_is_put_together_from_it_is_one_plain_line(
    text: str, ending: str, limit: int
) -> None:
    line = message_line(text, ending, limit)

    assert_plain(line, limit)
    assert not re.fullmatch(r"tts|[a-z0-9]*_[a-z0-9_]*", line, re.IGNORECASE)
    assert message_line(line, limit=limit) == line
