"""Other forms of the answers in the catalogue, as other servers would give them.

A `same` form has to be understood as the answer it was made of. Of a `worse` one only
this much is asked: no exception but `ModelError`, and no call that was not made.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
import json
from random import Random
from typing import Any, Final

from tests.support.wire_catalogue import Case


@dataclass(frozen=True, kw_only=True)
class Form:
    """An answer on its way to be another; `payload` is None where it is no JSON."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes
    payload: Any

    @classmethod
    def of(cls, case: Case) -> Form:
        """Take an answer of the catalogue."""
        try:
            payload = json.loads(case.body)
        except ValueError:
            payload = None
        return cls(
            status=case.status, headers=case.headers, body=case.body, payload=payload
        )

    def write(self, payload: Any, **style: Any) -> Form:
        """Return the answer with another value in its body."""
        body = json.dumps(payload, **style).encode("utf-8", "surrogatepass")
        return replace(self, payload=payload, body=body)

    def copy(self) -> Any:
        """Return the value of the body, to be changed."""
        return deepcopy(self.payload)


type Mutation = Callable[[Form, Random], Form | None]

SAME: Final[dict[str, Mutation]] = {}
WORSE: Final[dict[str, Mutation]] = {}


def same(mutation: Mutation) -> Mutation:
    """Register a form that means the same."""
    SAME[mutation.__name__] = mutation
    return mutation


def worse(mutation: Mutation) -> Mutation:
    """Register a form that may mean less."""
    WORSE[mutation.__name__] = mutation
    return mutation


def _message(payload: Any) -> dict[str, Any] | None:
    if not isinstance(payload, dict) or not payload.get("choices"):
        return None
    found = payload["choices"][0].get("message")
    return found if isinstance(found, dict) else None


def _calls(payload: Any) -> list[dict[str, Any]]:
    found = (_message(payload) or {}).get("tool_calls")
    return found if isinstance(found, list) else []


def _error(payload: Any) -> dict[str, Any] | None:
    outer = payload[0] if isinstance(payload, list) and payload else payload
    found = outer.get("error") if isinstance(outer, dict) else None
    return found if isinstance(found, dict) else None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)


def _on_message(change: Callable[[dict[str, Any], Random], Any]) -> Mutation:
    """Make a mutation of one that changes the message in place."""

    def mutate(form: Form, rand: Random) -> Form | None:
        payload = form.copy()
        message = _message(payload)
        if message is None or change(message, rand) is False:
            return None
        return form.write(payload)

    mutate.__name__ = change.__name__
    return mutate


def _on_choice(change: Callable[[dict[str, Any], Random], Any]) -> Mutation:
    def mutate(form: Form, rand: Random) -> Form | None:
        payload = form.copy()
        if _message(payload) is None or change(payload["choices"][0], rand) is False:
            return None
        return form.write(payload)

    mutate.__name__ = change.__name__
    return mutate


def _on_call(change: Callable[[dict[str, Any], Random], Any]) -> Mutation:
    """Make a mutation of one that changes each call in place."""

    def mutate(form: Form, rand: Random) -> Form | None:
        payload = form.copy()
        calls = _calls(payload)
        changed = [change(call, rand) is not False for call in calls]
        return form.write(payload) if changed and all(changed) else None

    mutate.__name__ = change.__name__
    return mutate


def _on_error(change: Callable[[dict[str, Any], Random], Any]) -> Mutation:
    def mutate(form: Form, rand: Random) -> Form | None:
        payload = form.copy()
        error = _error(payload)
        if error is None or change(error, rand) is False:
            return None
        return form.write(payload)

    mutate.__name__ = change.__name__
    return mutate


# The form of the body


@same
def shuffled_keys(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    payload = form.copy()
    for one in _objects(payload):
        items = [*one.items()]
        rand.shuffle(items)
        one.clear()
        one.update(items)
    return form.write(payload)


@same
def indented(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    return form.write(form.payload, indent=rand.choice([0, 1, 4, "\t"]))


@same
def without_blanks(form: Form, _rand: Random) -> Form | None:
    if form.payload is None:
        return None
    return form.write(form.payload, separators=(",", ":"))


@same
def in_unescaped_letters(form: Form, _rand: Random) -> Form | None:
    if form.payload is None:
        return None
    return form.write(form.payload, ensure_ascii=False)


@same
def blanks_around(form: Form, rand: Random) -> Form | None:
    blanks = ["".join(rand.choices(" \t\r\n", k=rand.randint(0, 9))) for _ in "ab"]
    return replace(form, body=blanks[0].encode() + form.body + blanks[1].encode())


@same
def byte_order_mark(form: Form, _rand: Random) -> Form | None:
    return replace(form, body=b"\xef\xbb\xbf" + form.body)


@same
def comments_before(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    comments = b": still working\n\n" * rand.randint(1, 5)
    return replace(form, body=comments + form.body)


@same
def done_behind(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    ends = [b"\n\ndata: [DONE]\n\n", b"\ndata:[DONE]", b"\r\n\r\ndata: [DONE]\r\n"]
    return replace(form, body=form.body + rand.choice(ends))


@same
def one_event(form: Form, rand: Random) -> Form | None:
    if form.payload is None or isinstance(form.payload, list):
        return None
    field = rand.choice([b"data: ", b"data:", b"event: message\ndata: "])
    end = rand.choice([b"", b"\n\n", b"\n\ndata: [DONE]\n\n"])
    return replace(form, body=field + form.write(form.payload).body + end)


@same
def an_event_over_many_lines(form: Form, _rand: Random) -> Form | None:
    if form.payload is None or isinstance(form.payload, list):
        return None
    lines = json.dumps(form.payload, indent=1).splitlines()
    return replace(form, body="".join(f"data: {line}\n" for line in lines).encode())


@same
def streamed(form: Form, rand: Random) -> Form | None:
    message = _message(form.payload)
    if message is None:
        return None
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    for key, value in message.items():
        if key == "content" and isinstance(value, str):
            deltas += [{key: part} for part in _cut(value, rand)]
        elif key == "tool_calls" and isinstance(value, list):
            deltas += _call_deltas(value, rand)
        else:
            deltas.append({key: value})
    choice = form.payload["choices"][0]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    finish = choice.get("finish_reason")
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": form.payload.get("usage")})
    lines = [*map(json.dumps, chunks), "[DONE]"]
    return replace(form, body="".join(f"data: {line}\n\n" for line in lines).encode())


def _call_deltas(calls: list[Any], rand: Random) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(calls):
        function = call.get("function") or {}
        arguments = function.get("arguments")
        parts = _cut(arguments, rand) if isinstance(arguments, str) else [arguments]
        named = {key: value for key, value in function.items() if key != "arguments"}
        head = {**call, "index": index, "function": {**named, "arguments": parts[0]}}
        yield {"tool_calls": [head]}
        for part in parts[1:]:
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _cut(text: str, rand: Random) -> list[str]:
    places = sorted({0, len(text), *(rand.randint(0, len(text)) for _ in range(3))})
    return [text[a:b] for a, b in pairwise(places)] or [""]


@same
def a_key_twice(form: Form, rand: Random) -> Form | None:
    if not isinstance(form.payload, dict):
        return None
    doubled = rand.choice([*form.payload])
    junk = rand.choice(["null", "[]", "7", '"x"', '{"message": {"content": "No."}}'])
    body = form.write(form.payload).body
    return replace(form, body=f"{{{json.dumps(doubled)}: {junk}, ".encode() + body[1:])


# The envelope


@same
def another_content_type(form: Form, rand: Random) -> Form | None:
    kinds = [
        "text/html",
        "text/plain",
        "application/octet-stream",
        "",
        "x",
        "image/png",
    ]
    return replace(form, headers={**form.headers, "Content-Type": rand.choice(kinds)})


@same
def headers_in_another_case(form: Form, rand: Random) -> Form | None:
    change = rand.choice([str.upper, str.lower, str.title])
    headers = {change(name): value for name, value in form.headers.items()}
    return replace(form, headers=headers)


@same
def fields_nobody_knows(form: Form, rand: Random) -> Form | None:
    if not isinstance(form.payload, dict):
        return None
    payload = form.copy()
    extra = {"provider": "x", "x_stats": {"a": [1]}, "system_fingerprint": None}
    payload |= {key: extra[key] for key in rand.sample([*extra], 2)}
    return form.write(payload)


@same
def fields_without_a_value(form: Form, _rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    payload = form.copy()
    payload |= {"service_tier": None, "prompt_logprobs": None, "kv_transfer": None}
    payload["choices"][0] |= {"logprobs": None, "stop_reason": None}
    payload["choices"][0]["message"] |= {"audio": None, "annotations": None}
    return form.write(payload)


@same
def another_id(form: Form, rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    ids = [None, "", 7, "gen-1", "ü" * 99, {"a": 1}]
    return form.write({**form.payload, "id": rand.choice(ids)})


@same
def another_object(form: Form, rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    kinds = ["chat.completion.chunk", "text_completion", "", None]
    return form.write({**form.payload, "object": rand.choice(kinds)})


@same
def another_time(form: Form, rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    times = ["2026-11-30T12:00:00Z", 1.5, -1, None, "soon", 10**30]
    return form.write({**form.payload, "created": rand.choice(times)})


@same
def no_head(form: Form, _rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    return form.write({"choices": form.payload["choices"]})


@same
def usage_of_another_kind(form: Form, rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    usages: list[Any] = [
        *(None, {}, [], "x", {"prompt_tokens": "20", "completion_tokens": "8"}),
        *({"prompt_tokens": -1}, {"total_tokens": 10**40}, {"prompt_tokens": 2.5}),
        {"prompt_tokens": 20, "prompt_tokens_details": {"cached_tokens": 3}},
    ]
    return form.write({**form.payload, "usage": rand.choice(usages)})


@same
def another_choice_behind(form: Form, rand: Random) -> Form | None:
    if _message(form.payload) is None:
        return None
    payload = form.copy()
    others = [{}, None, 5, {"message": None}, {"index": 1, "message": {"content": ""}}]
    payload["choices"].append(rand.choice(others))
    return form.write(payload)


@same
@_on_choice
def another_index(choice: dict[str, Any], rand: Random) -> None:
    choice["index"] = rand.choice([None, "0", 3, -1, {}])


@same
@_on_choice
def a_legacy_delta_beside(choice: dict[str, Any], _rand: Random) -> None:
    choice["delta"] = {}


# The message


@same
@_on_message
def another_role(message: dict[str, Any], rand: Random) -> None:
    message["role"] = rand.choice(["assistant", "model", "Assistant", None, "", 5])


@same
@_on_message
def no_role(message: dict[str, Any], _rand: Random) -> bool:
    return message.pop("role", None) is not None and len(message) > 0


@same
@_on_message
def thoughts_beside(message: dict[str, Any], rand: Random) -> None:
    names = ["reasoning_content", "reasoning", "thinking", "reasoning_details"]
    message.setdefault(rand.choice(names), rand.choice(["Hm.", [{"text": "Hm."}]]))


@same
@_on_message
def thoughts_before(message: dict[str, Any], rand: Random) -> bool:
    if not isinstance(message.get("content"), str):
        return False
    thoughts = ["<think>Hm.</think>", "<think>\n\n</think>\n", "[THINK]Hm.[/THINK]"]
    message["content"] = rand.choice(thoughts) + message["content"]
    return True


@same
@_on_message
def content_in_parts(message: dict[str, Any], rand: Random) -> bool:
    if not isinstance(message.get("content"), str):
        return False
    parts = [{"type": "text", "text": part} for part in _cut(message["content"], rand)]
    message["content"] = [*parts, {"type": "reference", "reference_ids": [1]}]
    return True


@same
@_on_message
def content_as_one_part(message: dict[str, Any], _rand: Random) -> bool:
    if not isinstance(message.get("content"), str):
        return False
    message["content"] = {"type": "text", "text": message["content"]}
    return True


@same
@_on_message
def another_blank_content(message: dict[str, Any], rand: Random) -> bool:
    if message.get("content") or not message.get("tool_calls"):
        return False
    message["content"] = rand.choice([None, "", "  \n", [], {}, [{"type": "text"}]])
    return True


@same
@_on_message
def no_content_at_all(message: dict[str, Any], _rand: Random) -> bool:
    if message.get("content") or not message.get("tool_calls"):
        return False
    message.pop("content", None)
    return True


@same
@_on_message
def a_refusal_that_is_none(message: dict[str, Any], rand: Random) -> bool:
    if message.get("refusal"):
        return False
    message["refusal"] = rand.choice([None, "", []])
    return True


@same
@_on_message
def an_old_call_that_is_none(message: dict[str, Any], rand: Random) -> bool:
    if message.get("function_call"):
        return False
    message["function_call"] = rand.choice([None, {}, {"name": ""}, []])
    return True


@same
@_on_message
def a_call_that_is_no_list(message: dict[str, Any], _rand: Random) -> bool:
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or len(calls) != 1:
        return False
    message["tool_calls"] = calls[0]
    return True


# The calls


@same
@_on_choice
def another_finish(choice: dict[str, Any], rand: Random) -> bool:
    """What ends it says nothing of calls, but for a cut and a filter."""
    if (
        not choice["message"].get("tool_calls")
        or choice.get("finish_reason") == "length"
    ):
        return False
    choice["finish_reason"] = rand.choice(
        ["stop", "tool_calls", "function_call", "tool_use", "STOP", "eos", "", None, 5]
    )
    return True


@same
@_on_choice
def no_finish(choice: dict[str, Any], _rand: Random) -> bool:
    is_cut = choice.get("finish_reason") not in ("stop", "tool_calls")
    return not is_cut and choice.pop("finish_reason") is not None


@same
@_on_call
def another_call_id(call: dict[str, Any], rand: Random) -> None:
    call["id"] = rand.choice([None, "", 7, "call_1", "ü b", "x" * 400, {}, "toolu_01"])


@same
@_on_call
def no_call_id(call: dict[str, Any], _rand: Random) -> None:
    call.pop("id", None)


@same
@_on_call
def another_call_type(call: dict[str, Any], rand: Random) -> None:
    call["type"] = rand.choice([None, "", "function", "tool", "builtin_function", 5])


@same
@_on_call
def another_call_index(call: dict[str, Any], rand: Random) -> None:
    call["index"] = rand.choice([None, 0, 7, "1", -1])


@same
@_on_call
def fields_of_a_provider(call: dict[str, Any], rand: Random) -> bool:
    if not isinstance(call.get("function"), dict):
        return False
    rand.choice([call, call["function"]])["extra_content"] = {"x": ["signature"]}
    return True


def _function(call: dict[str, Any]) -> dict[str, Any]:
    found = call.get("function")
    return found if isinstance(found, dict) else {}


def _arguments(call: dict[str, Any]) -> str | None:
    """Return arguments that are one JSON object, as text."""
    arguments = _function(call).get("arguments")
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return None
    return json.dumps(value) if isinstance(value, dict) else None


def _on_arguments(change: Callable[[str, Random], Any]) -> Mutation:
    def mutate(call: dict[str, Any], rand: Random) -> bool:
        arguments = _arguments(call)
        if arguments is None:
            return False
        call["function"]["arguments"] = change(arguments, rand)
        return True

    mutate.__name__ = change.__name__
    return _on_call(mutate)


@same
@_on_arguments
def arguments_as_an_object(arguments: str, _rand: Random) -> Any:
    return json.loads(arguments)


@same
@_on_arguments
def arguments_encoded_twice(arguments: str, _rand: Random) -> str:
    return json.dumps(arguments)


@same
@_on_arguments
def arguments_with_blanks(arguments: str, rand: Random) -> str:
    return (
        f"{rand.choice([' ', chr(10), ''])}{arguments}{rand.choice([' ', chr(10) * 3])}"
    )


@same
@_on_arguments
def arguments_in_a_fence(arguments: str, rand: Random) -> str:
    return f"```{rand.choice(['json', ''])}\n{arguments}\n```"


@same
@_on_arguments
def arguments_with_leftovers(arguments: str, rand: Random) -> str:
    return arguments + rand.choice(["}", "\n</tool_call>", "<|eom_id|>", "]", "```"])


@same
@_on_arguments
def arguments_printed_prettily(arguments: str, _rand: Random) -> str:
    return json.dumps(json.loads(arguments), indent=4)


@same
@_on_arguments
def arguments_given_twice(arguments: str, _rand: Random) -> str:
    return arguments + arguments


@same
@_on_arguments
def arguments_in_other_letters(arguments: str, _rand: Random) -> str:
    return json.dumps(json.loads(arguments), ensure_ascii=False)


def _on_name(change: Callable[[str, Random], Any]) -> Mutation:
    def mutate(call: dict[str, Any], rand: Random) -> bool:
        name = _function(call).get("name")
        if not name:
            return False
        call["function"]["name"] = change(name, rand)
        return True

    mutate.__name__ = change.__name__
    return _on_call(mutate)


@same
@_on_name
def blanks_around_a_name(name: str, rand: Random) -> str:
    return f"{rand.choice([' ', chr(10)])}{name} "


@same
@_on_name
def a_namespace_before_a_name(name: str, rand: Random) -> str:
    return rand.choice(["functions.", "default_api."]) + name


@same
@_on_name
def leftovers_behind_a_name(name: str, rand: Random) -> str:
    if "<|" in name:
        return name
    return name + rand.choice(["<|channel|>json", "<|im_end|>", "<|message|>"])


# The errors


@same
def an_error_within_an_error(form: Form, _rand: Random) -> Form | None:
    error = _error(form.payload)
    return None if error is None else form.write({"error": {"error": error}})


@same
def an_error_in_a_list(form: Form, _rand: Random) -> Form | None:
    error = _error(form.payload)
    return None if error is None else form.write([{"error": error}])


@same
def an_error_out_of_its_list(form: Form, _rand: Random) -> Form | None:
    if not isinstance(form.payload, list) or _error(form.payload) is None:
        return None
    return form.write(form.payload[0])


@same
def a_flat_error(form: Form, _rand: Random) -> Form | None:
    error = _error(form.payload)
    return None if error is None else form.write({"object": "error", **error})


@same
def an_error_with_more_in_it(form: Form, rand: Random) -> Form | None:
    if not isinstance(form.payload, dict) or _error(form.payload) is None:
        return None
    more: list[dict[str, Any]] = [
        *({"request_id": "req_1"}, {"success": False}, {"status": "error"}, {"id": 5}),
        *({"choices": []}, {"choices": None}, {"detail": None}, {"type": "error"}),
    ]
    return form.write({**form.payload, **rand.choice(more)})


@same
@_on_error
def a_code_as_text(error: dict[str, Any], _rand: Random) -> bool:
    if not isinstance(error.get("code"), int):
        return False
    error["code"] = str(error["code"])
    return True


@same
@_on_error
def a_code_as_a_fraction(error: dict[str, Any], _rand: Random) -> bool:
    if not isinstance(error.get("code"), int):
        return False
    error["code"] = float(error["code"])
    return True


@same
@_on_error
def codes_in_capitals(error: dict[str, Any], _rand: Random) -> bool:
    words = [key for key in ("code", "type") if isinstance(error.get(key), str)]
    error |= {key: error[key].upper() for key in words}
    return bool(words)


@same
@_on_error
def a_message_in_another_case(error: dict[str, Any], rand: Random) -> bool:
    if not isinstance(error.get("message"), str):
        return False
    error["message"] = rand.choice([str.upper, str.lower])(error["message"])
    return True


@same
@_on_error
def a_message_of_a_gateway(error: dict[str, Any], rand: Random) -> bool:
    if not isinstance(error.get("message"), str):
        return False
    before = ["litellm.APIError: OpenAIException - ", "Upstream: ", "\n\t", "Error: "]
    error["message"] = f"{rand.choice(before)}{error['message']} (id: a-1)"
    return True


@same
@_on_error
def a_message_in_what_the_provider_said(error: dict[str, Any], _rand: Random) -> bool:
    if not isinstance(error.get("message"), str) or "metadata" in error:
        return False
    error["metadata"] = {"raw": error["message"], "provider_name": "x"}
    error["message"] = "Provider returned error"
    return True


@same
@_on_error
def fields_as_the_word_none(error: dict[str, Any], _rand: Random) -> None:
    error |= {
        key: "None" for key in ("param", "type", "code") if error.get(key) is None
    }


# What is worse


@worse
def cut_off(form: Form, rand: Random) -> Form | None:
    return replace(form, body=form.body[: rand.randint(0, len(form.body))])


@worse
def a_hole(form: Form, rand: Random) -> Form | None:
    start = rand.randint(0, len(form.body))
    rest = form.body[start + rand.randint(1, 40) :]
    return replace(form, body=form.body[:start] + rest)


@worse
def a_part_twice(form: Form, rand: Random) -> Form | None:
    start = rand.randint(0, len(form.body))
    part = form.body[start : start + rand.randint(1, 200)]
    return replace(form, body=form.body[:start] + part + form.body[start:])


@worse
def bytes_of_chance(form: Form, rand: Random) -> Form | None:
    body = bytearray(form.body)
    for _ in range(min(len(body), rand.randint(1, 5))):
        body[rand.randrange(len(body))] = rand.randrange(256)
    return replace(form, body=bytes(body))


@worse
def twice_over(form: Form, rand: Random) -> Form | None:
    return replace(form, body=form.body + rand.choice([b"", b"\n"]) + form.body)


@worse
def another_encoding(form: Form, rand: Random) -> Form | None:
    text = form.body.decode(errors="replace")
    coded = text.encode(
        rand.choice(["utf-16", "utf-32", "latin-1", "utf-7"]), "replace"
    )
    return replace(form, body=coded)


@worse
def no_numbers(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    odd = rand.choice([float("nan"), float("inf"), float("-inf"), 10**400, -0.0])
    payload = form.copy()
    for one in _objects(payload):
        one |= {key: odd for key, value in one.items() if isinstance(value, int)}
        one["odd"] = odd
    return form.write(payload)


@worse
def values_of_another_type(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    payload = form.copy()
    one = rand.choice([*_objects(payload)] or [{"": 0}])
    key = rand.choice([*one] or [""])
    one[key] = rand.choice([None, True, 0, "", "x", [], {}, [[]], {"a": 1}, "\ud800"])
    return form.write(payload)


@worse
def a_key_less(form: Form, rand: Random) -> Form | None:
    if form.payload is None:
        return None
    payload = form.copy()
    one = rand.choice([*_objects(payload)] or [{"": 0}])
    one.pop(rand.choice([*one] or [""]), None)
    return form.write(payload)


@worse
def far_too_deep(form: Form, rand: Random) -> Form | None:
    deep = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    return replace(form, body=rand.choice([deep, form.body[:-1] + b',"a":' + deep]))


@worse
@_on_choice
def cut_by_the_limit(choice: dict[str, Any], rand: Random) -> None:
    choice["finish_reason"] = rand.choice(["length", "max_tokens", "MAX_TOKENS"])


@worse
@_on_choice
def held_back_by_a_filter(choice: dict[str, Any], rand: Random) -> None:
    choice["finish_reason"] = rand.choice(["content_filter", "SAFETY", "blocklist"])


@worse
@_on_choice
def an_error_in_the_choice(choice: dict[str, Any], rand: Random) -> None:
    choice["error"] = rand.choice(["gone", {"code": 502}, {"message": "rate limit"}])


@worse
@_on_arguments
def arguments_cut_off(arguments: str, rand: Random) -> str:
    return arguments[: rand.randint(0, len(arguments) - 1)]


@worse
@_on_arguments
def arguments_that_are_no_object(arguments: str, rand: Random) -> Any:
    return rand.choice(["[1]", "5", '"x"', "true", [1], 5, f"[{arguments}]"])


@worse
@_on_arguments
def arguments_and_prose(arguments: str, rand: Random) -> str:
    return rand.choice([f"I call {arguments}", f"{arguments} please", f"{arguments} 5"])


@worse
@_on_name
def a_name_nobody_declared(name: str, rand: Random) -> str:
    return rand.choice([f"{name}x", name.upper(), name[:-1], f"my.{name}", "rm -rf"])


@worse
def an_error_beside_it(form: Form, rand: Random) -> Form | None:
    if not isinstance(form.payload, dict):
        return None
    errors = ["no", {"message": "no", "code": 500}, {"code": 429}, ["no"], True]
    return form.write({**form.payload, "error": rand.choice(errors)})


@worse
def another_status(form: Form, rand: Random) -> Form | None:
    statuses = [204, 301, 400, 401, 403, 404, 408, 418, 429, 500, 503, 599, 999]
    return replace(form, status=rand.choice(statuses))


@worse
def odd_headers(form: Form, rand: Random) -> Form | None:
    values = ["", "-1", "soon", "9" * 40, "NaN", "1e9", "Wed, 99 Foo 2026", "\x7f", "٣"]
    names = ["Retry-After", "retry-after-ms", "Date", "Location", "x-ratelimit-reset-x"]
    return replace(form, headers={name: rand.choice(values) for name in names})


@worse
def a_page_instead(form: Form, rand: Random) -> Form | None:
    pages = [b"<html><title>Hi</title>", b"<!doctype html>", b"<?xml?><Error/>", b"OK"]
    return replace(form, body=rand.choice(pages))


@worse
def nothing_instead(form: Form, rand: Random) -> Form | None:
    nothing = [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"0",
        b"data: [DONE]",
        b"\xef\xbb\xbf",
    ]
    return replace(form, body=rand.choice(nothing))
