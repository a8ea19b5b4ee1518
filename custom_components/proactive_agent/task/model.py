"""An AI Task entity as what thinks: its own loop, with our tools and our limits."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from homeassistant.const import ATTR_SUPPORTED_FEATURES, STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant, State

from ..engine.answer import ANSWER_LIMIT
from ..engine.answering import Answering
from ..engine.errors import Advice, CutReason, ErrorKind, ModelError, RunCutError
from ..engine.journal import Journal
from ..engine.ports import Allowance, Tools
from ..engine.records import JsonObject
from ..engine.tab import Tab
from .api import TaskApi
from .desk import Desk
from .errors import to_model_error
from .log import TaskLog

TASK_DOMAIN: Final = "ai_task"
# AITaskEntityFeature.GENERATE_DATA; where it comes from is heavy to import.
_GENERATE_DATA: Final = 1
# Integrations wrap an answer in an object of their own.
_ANSWER_LIMIT: Final = ANSWER_LIMIT - 40


def can_think(state: State) -> bool:
    """Say whether an AI Task entity can work on a task with tools."""
    features: int = state.attributes.get(ATTR_SUPPORTED_FEATURES, 0)
    return bool(features & _GENERATE_DATA)


class TaskMind:
    """Thinks with an AI Task entity; made for one run.

    `context` is the run's, which has no user: nobody's permissions are asked for.
    """

    def __init__(
        self, hass: HomeAssistant, entity_id: str, *, name: str, context: Context
    ) -> None:
        """Think with this entity; `name` is what the task is called."""
        self._hass = hass
        self._entity_id = entity_id
        self._name = name
        self._context = context

    def check_ready(self) -> None:
        """Raise `ModelError` if the entity is not there, not available, or unfit."""
        state = self._hass.states.get(self._entity_id)
        if state is None or TASK_DOMAIN not in self._hass.config.components:
            raise self._error(ErrorKind.CONNECTION, Advice.TASK_MISSING)
        if state.state == STATE_UNAVAILABLE:
            raise self._error(ErrorKind.CONNECTION, Advice.TASK_UNAVAILABLE)
        if not can_think(state):
            raise self._error(ErrorKind.UNSUPPORTED_PARAMETER, Advice.TASK_UNFIT)

    async def converse(
        self,
        tools: Tools,
        opening: Sequence[JsonObject],
        *,
        max_turns: int,
        allowance: Allowance,
        journal: Journal,
    ) -> None:
        """Let the entity work until it is finished (R2).

        The entity goes on by itself, so each limit is held where it asks for
        something: a call, or the next answer of its model.
        """
        journal.usage = None
        answering = Answering(tools, journal, max_turns=max_turns, limit=_ANSWER_LIMIT)
        rules, moment = answering.opened(opening)
        desk = Desk(answering, allowance.check)
        tab = Tab(tools.specs, allowance, journal)
        log = TaskLog(journal, tab, desk, max_turns=max_turns)
        api = TaskApi(
            self._hass,
            rules=str(rules["content"]),
            tools=tools.specs,
            follow=log.follow,
            hand_in=desk.hand_in,
        )
        log.ask((rules, moment))
        task = self._hass.async_create_background_task(
            self._generate(api, str(moment["content"])), "proactive_agent AI task"
        )
        task.add_done_callback(lambda _: desk.close())
        try:
            await desk.serve()
        finally:
            task.add_done_callback(_forget)
            task.cancel()
            desk.close()
            log.close()
        journal.answer = self._answer_of(task, log)

    async def _generate(self, api: TaskApi, instructions: str) -> Any:
        # It brings a lot along, which is loaded where such an entity exists.
        from homeassistant.components import ai_task  # noqa: PLC0415

        result = await ai_task.async_generate_data(
            self._hass,
            task_name=self._name,
            entity_id=self._entity_id,
            instructions=instructions,
            llm_api=api,
            context=self._context,
        )
        return result.data

    def _answer_of(self, task: asyncio.Task[Any], log: TaskLog) -> str | None:
        """Return the last word of a task that has ended, or raise why it has none."""
        if log.is_silent:
            return None
        if log.cut is not None:
            raise RunCutError(log.cut)
        if task.cancelled():
            raise self._error(ErrorKind.CONNECTION, Advice.TASK_FAILED)
        if (err := task.exception()) is None:
            return str(task.result())
        if log.has_given_up(err):
            raise RunCutError(CutReason.TURN_LIMIT)
        raise to_model_error(err, self._entity_id) from err

    def _error(self, kind: ErrorKind, advice: Advice) -> ModelError:
        placeholders = {"entity": self._entity_id}
        return ModelError(kind, advice=advice, placeholders=placeholders)


def _forget(task: asyncio.Task[Any]) -> None:
    """Look at what became of a task that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
