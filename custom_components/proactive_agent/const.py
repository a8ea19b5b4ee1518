"""Names of the integration: domain, option keys, defaults and event types."""

from datetime import timedelta
from typing import Final

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN

DOMAIN: Final = "proactive_agent"
SUBENTRY_HEARTBEAT: Final = "heartbeat"

# The states by which an entity says nothing of what it stands for.
SILENT_STATES: Final = frozenset({STATE_UNAVAILABLE, STATE_UNKNOWN})

CONF_EXTRA_BODY: Final = "extra_body"

CONF_CHECK_PROMPT: Final = "check_prompt"
CONF_INTERVAL: Final = "interval"
CONF_CONDITIONS: Final = "conditions"
CONF_LOOK: Final = "look"
CONF_ACT: Final = "act"
CONF_ASK: Final = "ask"
CONF_NOTIFY: Final = "notify"

CONF_FUSES: Final = "fuses"
CONF_MAX_TICKS: Final = "max_ticks"
CONF_MAX_DURATION: Final = "max_duration"
CONF_RUN_TIMEOUT: Final = "run_timeout"
CONF_MAX_TURNS: Final = "max_turns"
CONF_MAX_ACTIONS: Final = "max_actions"
CONF_MAX_WAKES_PER_DAY: Final = "max_wakes_per_day"
CONF_MAX_TOKENS_PER_DAY: Final = "max_tokens_per_day"

CONF_MANNERS: Final = "manners"
CONF_MAY_STOP: Final = "may_stop"
CONF_STOP_AFTER_ACTING: Final = "stop_after_acting"
CONF_ASK_BEFORE_RISKY: Final = "ask_before_risky"
CONF_RECHECK_AFTER: Final = "recheck_after"
CONF_SETTLE_FOR: Final = "settle_for"
CONF_APPROVAL_TIMEOUT: Final = "approval_timeout"

DEFAULT_INTERVAL: Final = timedelta(minutes=15)
SHORTEST_INTERVAL: Final = timedelta(seconds=1)
DEFAULT_RUN_TIMEOUT: Final = 60
DEFAULT_MAX_TURNS: Final = 8
DEFAULT_MAX_ACTIONS: Final = 10
DEFAULT_MAX_WAKES_PER_DAY: Final = 48
DEFAULT_MAX_TOKENS_PER_DAY: Final = 200_000
DEFAULT_RECHECK_AFTER: Final = timedelta(hours=6)
DEFAULT_SETTLE_FOR: Final = timedelta(minutes=30)
DEFAULT_APPROVAL_TIMEOUT: Final = timedelta(hours=1)
LONGEST_APPROVAL_TIMEOUT: Final = timedelta(days=365)  # where it is off

EVENT_PROMPT_LENGTH: Final = 8_000  # characters
EVENT_HEARTBEAT_TICK: Final = "proactive_agent_heartbeat_tick"
EVENT_ACTED: Final = "proactive_agent_acted"
EVENT_FAILED: Final = "proactive_agent_failed"
EVENT_NOTICE: Final = "proactive_agent_notice"
EVENT_STOPPED: Final = "proactive_agent_stopped"
EVENT_APPROVAL_REQUESTED: Final = "proactive_agent_approval_requested"
EVENT_APPROVAL_ANSWERED: Final = "proactive_agent_approval_answered"

# What a button on a phone sends back begins with one of these; a secret follows.
TAP_APPROVE: Final = "PROACTIVE_AGENT_APPROVE_"
TAP_REJECT: Final = "PROACTIVE_AGENT_REJECT_"

ATTR_ANSWERED_BY: Final = "answered_by"
ATTR_APPROVAL_ID: Final = "approval_id"
ATTR_BECAUSE: Final = "because"
ATTR_DETAIL: Final = "detail"
ATTR_DID: Final = "did"
ATTR_DRY_RUN: Final = "dry_run"
ATTR_HEARTBEAT: Final = "heartbeat"
ATTR_HEARTBEAT_ID: Final = "heartbeat_id"
ATTR_LIMIT: Final = "limit"
ATTR_MESSAGE: Final = "message"
ATTR_REASON: Final = "reason"
ATTR_REQUEST: Final = "request"
ATTR_RUN_ID: Final = "run_id"

SERVICE_APPROVE: Final = "approve"
SERVICE_REJECT: Final = "reject"
SERVICE_WAKE: Final = "wake"
SERVICE_GET_RUNS: Final = "get_runs"
