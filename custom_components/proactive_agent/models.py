"""Options as they are used, parsed from what a config entry stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.const import (
    CONF_API_KEY,
    CONF_ENTITY_ID,
    CONF_MODEL,
    CONF_URL,
    CONF_VERIFY_SSL,
)
from homeassistant.helpers import config_validation as cv

from . import const as c
from .engine.fuses import Limits
from .engine.plain_text import shorten
from .engine.wire import normalise_url


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """One LLM server and the model on it."""

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    verify_ssl: bool = True
    extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_entry(cls, entry: ConfigEntry) -> Self:
        """Read an endpoint's config entry; missing keys take their defaults."""
        return cls(
            url=_base_url(entry.data[CONF_URL]),
            model=entry.data[CONF_MODEL],
            api_key=entry.data.get(CONF_API_KEY) or "",
            verify_ssl=entry.data.get(CONF_VERIFY_SSL, True),
            extra_body=entry.data.get(c.CONF_EXTRA_BODY) or {},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """An AI Task entity that thinks instead of a server."""

    entity_id: str


def mind_options(entry: ConfigEntry) -> EndpointOptions | TaskOptions:
    """Read what thinks for the heartbeats of an entry."""
    if (entity_id := entry.data.get(CONF_ENTITY_ID)) is not None:
        return TaskOptions(entity_id=entity_id)
    return EndpointOptions.from_entry(entry)


def has_key(entry: ConfigEntry) -> bool:
    """Say whether a key of this entry can be refused; that of an entity is not ours."""
    return isinstance(mind_options(entry), EndpointOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuses:
    """Limits of a heartbeat; None means off, durations are wall-clock time."""

    max_ticks: int | None = None
    max_duration: timedelta | None = None
    run_timeout: int = c.DEFAULT_RUN_TIMEOUT
    max_turns: int = c.DEFAULT_MAX_TURNS
    max_actions: int = c.DEFAULT_MAX_ACTIONS
    max_wakes_per_day: int | None = c.DEFAULT_MAX_WAKES_PER_DAY
    max_tokens_per_day: int | None = c.DEFAULT_MAX_TOKENS_PER_DAY

    @property
    def limits(self) -> Limits:
        """The limits that hold between runs."""
        return Limits(
            max_ticks=self.max_ticks,
            max_duration=self.max_duration,
            max_wakes_per_day=self.max_wakes_per_day,
            max_tokens_per_day=self.max_tokens_per_day,
        )

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored section; 0 turns a limit off where that is allowed."""
        return cls(
            max_ticks=_limit(data.get(c.CONF_MAX_TICKS, 0)),
            max_duration=_duration(data.get(c.CONF_MAX_DURATION)) or None,
            run_timeout=_at_least_one(
                data.get(c.CONF_RUN_TIMEOUT), c.DEFAULT_RUN_TIMEOUT
            ),
            max_turns=_at_least_one(data.get(c.CONF_MAX_TURNS), c.DEFAULT_MAX_TURNS),
            max_actions=_at_least_one(
                data.get(c.CONF_MAX_ACTIONS), c.DEFAULT_MAX_ACTIONS
            ),
            max_wakes_per_day=_limit(
                data.get(c.CONF_MAX_WAKES_PER_DAY, c.DEFAULT_MAX_WAKES_PER_DAY)
            ),
            max_tokens_per_day=_limit(
                data.get(c.CONF_MAX_TOKENS_PER_DAY, c.DEFAULT_MAX_TOKENS_PER_DAY)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How a heartbeat behaves towards its owner."""

    may_stop: bool = False
    stop_after_acting: bool = False
    ask_before_risky: bool = True
    recheck_after: timedelta = c.DEFAULT_RECHECK_AFTER
    settle_for: timedelta = c.DEFAULT_SETTLE_FOR
    approval_timeout: timedelta = c.DEFAULT_APPROVAL_TIMEOUT

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored section; missing keys take their defaults."""
        return cls(
            may_stop=data.get(c.CONF_MAY_STOP, False),
            stop_after_acting=data.get(c.CONF_STOP_AFTER_ACTING, False),
            ask_before_risky=data.get(c.CONF_ASK_BEFORE_RISKY, True),
            recheck_after=_duration(
                data.get(c.CONF_RECHECK_AFTER), c.DEFAULT_RECHECK_AFTER
            ),
            settle_for=_duration(data.get(c.CONF_SETTLE_FOR), c.DEFAULT_SETTLE_FOR),
            approval_timeout=_duration(
                data.get(c.CONF_APPROVAL_TIMEOUT), c.DEFAULT_APPROVAL_TIMEOUT
            )
            or c.LONGEST_APPROVAL_TIMEOUT,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatOptions:
    """One heartbeat as its owner set it up."""

    title: str
    check_prompt: str
    interval: timedelta = c.DEFAULT_INTERVAL
    conditions: Sequence[Any] = ()
    look: Mapping[str, Any] = field(default_factory=dict)
    act: Mapping[str, Any] = field(default_factory=dict)
    ask: Mapping[str, Any] = field(default_factory=dict)
    notify: tuple[str, ...] = ()
    fuses: Fuses = field(default_factory=Fuses)
    manners: Manners = field(default_factory=Manners)
    model: str | None = None  # None: the endpoint's own

    @property
    def prompt_for_events(self) -> str:
        """The prompt as events carry it, of at most `EVENT_PROMPT_LENGTH` characters.

        The recorder keeps nothing of an event of more than 32 KB.
        """
        return shorten(self.check_prompt, c.EVENT_PROMPT_LENGTH)

    @classmethod
    def from_subentry(cls, subentry: ConfigSubentry) -> Self:
        """Read a heartbeat's subentry; missing keys take their defaults."""
        data = subentry.data
        return cls(
            title=subentry.title,
            check_prompt=data[c.CONF_CHECK_PROMPT],
            interval=max(
                c.SHORTEST_INTERVAL,
                _duration(data.get(c.CONF_INTERVAL), c.DEFAULT_INTERVAL),
            ),
            conditions=data.get(c.CONF_CONDITIONS) or (),
            look=data.get(c.CONF_LOOK) or {},
            act=data.get(c.CONF_ACT) or {},
            ask=data.get(c.CONF_ASK) or {},
            notify=tuple(data.get(c.CONF_NOTIFY) or ()),
            fuses=Fuses.from_data(data.get(c.CONF_FUSES) or {}),
            manners=Manners.from_data(data.get(c.CONF_MANNERS) or {}),
            model=data.get(CONF_MODEL) or None,
        )


def _base_url(url: str) -> str:
    # What the flow stored is right already; an entry can be made without a flow.
    try:
        return normalise_url(url)
    except ValueError:
        return url


def _limit(value: float | None) -> int | None:
    return int(value) if value else None


def _at_least_one(value: float | None, default: int) -> int:
    return max(1, int(value)) if value is not None else default


def _duration(value: Any, default: timedelta = timedelta()) -> timedelta:
    return default if value is None else cv.time_period(value)
