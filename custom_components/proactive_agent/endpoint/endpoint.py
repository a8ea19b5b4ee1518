"""A model on an OpenAI-compatible server."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
import logging
import re
from typing import Any, Final, Protocol

import aiohttp

from ..engine.bill import Bill
from ..engine.errors import Advice, ErrorKind, ModelError
from ..engine.metering import expected_usage
from ..engine.records import JsonObject, Reply, ToolSpec
from ..engine.wire import decode_models, decode_reply, encode_request
from ..engine.wire.adapt import adapt
from ..engine.wire.facts import read_facts
from ..engine.wire.models import is_listed
from ..engine.wire.own_limit import name_own_limit
from ..engine.wire.shape import USUAL, Shape
from ..engine.wire.values import write
from ..models import EndpointOptions
from .line import Answer, Line
from .retry import GLANCE, LIST, PROBE, RUN, RetryPolicy, Sleep, with_retries

_LOGGER = logging.getLogger(__name__)

MAX_SHAPES: Final = 6  # of one request: the first and five others
_LONG: Final = 200_000  # bytes of an answer
_NAMED: Final = 20  # models in an error
_VERSIONED: Final = re.compile(r"/v\d\w*(?:/|$)")

PROBE_MESSAGES: Final[Sequence[JsonObject]] = (
    {"role": "user", "content": "Call the tool report_ready, to show that you can."},
)
PROBE_TOOLS: Final = (
    ToolSpec(
        name="report_ready",
        description="Say that you are ready.",
        parameters={"type": "object", "properties": {}},
    ),
)


class ShapeMemory(Protocol):
    """What is remembered of how a server wants its requests."""

    def get(self, url: str, model: str) -> Shape:
        """Return the shape for a model, the usual one if it has refused nothing."""
        ...

    def put(self, url: str, model: str, shape: Shape) -> None:
        """Remember a shape that the server has taken."""
        ...


@dataclass(slots=True)
class _OwnMemory:
    """Remembers as long as its client lives."""

    shapes: dict[tuple[str, str], Shape] = field(default_factory=dict)

    def get(self, url: str, model: str) -> Shape:
        return self.shapes.get((url, model), USUAL)

    def put(self, url: str, model: str, shape: Shape) -> None:
        self.shapes[url, model] = shape


class EndpointClient:
    """One server and a model on it; every failure is a `ModelError`.

    The session belongs to the caller, who picks one that verifies certificates or
    one that does not. Cancelling a call drops its request at once.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        options: EndpointOptions,
        sleep: Sleep = asyncio.sleep,
        *,
        shapes: ShapeMemory | None = None,
    ) -> None:
        """Prepare; nothing is sent before something is asked for."""
        self._line = Line(session, options)
        self._options = options
        self._sleep = sleep
        self._shapes = _OwnMemory() if shapes is None else shapes

    async def complete(
        self, messages: Sequence[JsonObject], tools: Sequence[ToolSpec]
    ) -> Reply:
        """Answer one turn, with retries while they can help (R7).

        The usage, also of an error, is that of all requests it took.
        """
        try:
            return await self._chat(messages, tools, RUN)
        except ModelError as err:
            is_lost = err.advice is Advice.NOT_OPENAI_API and err.said
            if not is_lost or _VERSIONED.search(self._options.url):
                raise
            raise err.refined(advice=Advice.ADD_V1) from err

    async def list_models(self) -> list[str]:
        """Return the ids of the models the server offers."""
        return await self._list(LIST)

    async def probe_tools(self) -> None:
        """Find out by one small request whether the model can be given tools."""
        await self._chat(PROBE_MESSAGES, PROBE_TOOLS, PROBE)

    async def _list(self, policy: RetryPolicy) -> list[str]:
        async def ask() -> list[str]:
            answer = await self._line.exchange("GET", "/models", None)
            read = partial(decode_models, *answer, api_key=self._options.api_key)
            return await _in_good_time(read, answer)

        return await with_retries(ask, policy, self._sleep)

    async def _chat(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[ToolSpec],
        policy: RetryPolicy,
    ) -> Reply:
        options = self._options
        request = encode_request(options.model, messages, tools, options.extra_body)
        expected = partial(expected_usage, messages, tools)
        bill = Bill(expected)
        tried = [self._shapes.get(options.url, options.model)]

        async def ask() -> Reply:
            return await self._ask(request, tools, tried, bill)

        try:
            reply = await with_retries(ask, policy, self._sleep, bill.add)
        except ModelError as err:
            err.usage = bill.total
            if err.kind is ErrorKind.MODEL_NOT_FOUND:
                raise await self._with_models(err.refined(model=options.model)) from err
            more = name_own_limit(err, options.extra_body, tried[-1], expected)
            if more is None:
                raise
            raise more from err
        if (shape := tried[-1].lasting) != tried[0]:
            self._shapes.put(options.url, options.model, shape)
        return bill.settle(reply)

    async def _ask(
        self,
        request: Mapping[str, Any],
        tools: Sequence[ToolSpec],
        tried: list[Shape],
        bill: Bill,
    ) -> Reply:
        """Ask once in each shape that the server's complaints lead to."""
        messages = request["messages"]
        is_answered = bool(messages) and messages[-1].get("role") == "tool"
        while True:
            sent = tried[-1].apply(request)
            # Half a character in a name must not keep the rest from being sent.
            body = write(sent).encode("utf-8", "replace")
            answer = await self._line.exchange("POST", "/chat/completions", body)
            read = partial(
                decode_reply,
                *answer,
                tools,
                api_key=self._options.api_key,
                may_be_silent=is_answered,
            )
            try:
                return await _in_good_time(read, answer)
            except ModelError as err:
                status, _, content = answer
                if len(content) > _LONG or len(tried) == MAX_SHAPES:
                    raise
                shape = adapt(err, read_facts(status, content), sent, tried)
                if shape is None:
                    raise
                _LOGGER.debug("%s; asking again as %s", err, shape.as_dict())
                bill.add(err)
                tried.append(shape)

    async def _with_models(self, err: ModelError) -> ModelError:
        """Name the models that are there, if the server tells them soon."""
        try:
            found = await self._list(GLANCE)
        except ModelError:
            return err
        if not found or is_listed(self._options.model, found):
            return err
        return err.refined(advice=Advice.MODEL_NOT_LISTED, models=_some(found))


async def _in_good_time[T](read: Callable[[], T], answer: Answer) -> T:
    """Read an answer; a long one would hold up everything else."""
    if len(answer[2]) <= _LONG:
        return read()
    return await asyncio.get_running_loop().run_in_executor(None, read)


def _some(models: Sequence[str]) -> str:
    more = f", … ({len(models)})" if len(models) > _NAMED else ""
    return f"{', '.join(models[:_NAMED])}{more}"
