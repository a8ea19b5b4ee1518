"""Repair issues about what thinks, where only the owner can mend it (R7)."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
import logging
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.util import dt as dt_util, slugify

from ..const import ATTR_HEARTBEAT_ID, DOMAIN
from ..engine.errors import ErrorKind
from ..engine.records import Outcome, RunError, RunRecord
from ..engine.truncation import Reading, Window
from ..models import has_key, mind_options
from ..run.run import Run

_LOGGER = logging.getLogger(__name__)

CONTEXT_TRUNCATED: Final = "context_truncated"

_SERVER, _MODEL, _HEARTBEAT = "server", "model", "heartbeat"
# Whose fault it is. The other kinds pass by themselves, but for a refused key.
_AT_FAULT: Final[Mapping[str, str]] = {
    ErrorKind.QUOTA: _SERVER,
    ErrorKind.NOT_OPENAI_API: _SERVER,
    ErrorKind.MODEL_NOT_FOUND: _MODEL,
    ErrorKind.UNSUPPORTED_PARAMETER: _MODEL,
    ErrorKind.BAD_REQUEST: _HEARTBEAT,
    ErrorKind.CONTEXT_LENGTH: _HEARTBEAT,
}
_SAYS_NOTHING: Final = frozenset(
    {Outcome.ERROR, Outcome.TIMEOUT, Outcome.STOPPED, Outcome.TOKEN_LIMIT}
)

# What an issue is about: equal as long as nobody has changed it.
type _Subject = tuple[str, object]


class ModelIssues:
    """The repair issues about the model of one endpoint.

    There is one for each kind of error and what is at fault: the server, a model, or a
    heartbeat's own options. It goes with the next good run that has to do with the
    same, or when that is changed. Dry runs count: they ask the real model.
    """

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Begin without an issue; none outlives a restart."""
        self._hass = hass
        self._entry = entry
        self._open: dict[str, _Subject] = {}
        self._begin()

    @callback
    def judge(self, heartbeat_id: str, run: Run, record: RunRecord) -> RunRecord:
        """Raise and drop issues by what a run has come to.

        Returns the record, with a warning if the server has not read all of it.
        """
        # A run that began before a change tells of what is no longer there.
        if run.started < self._since or heartbeat_id not in self._entry.subentries:
            return record
        subjects = self._subjects(heartbeat_id)
        if record.error is not None:
            self._fail(record.error, heartbeat_id, subjects)
        elif record.outcome not in _SAYS_NOTHING:
            good = [*subjects.values()]
            self._drop_if(
                lambda issue_id, subject: (
                    subject in good and not issue_id.startswith(CONTEXT_TRUNCATED)
                )
            )
        reading = run.first_request
        if reading is None:
            return record
        is_cut_off = self._weigh(reading, heartbeat_id, subjects[_MODEL])
        return replace(record, warning=CONTEXT_TRUNCATED) if is_cut_off else record

    @callback
    def follow(self) -> None:
        """Drop what a change of the endpoint or of its heartbeats has settled."""
        if mind_options(self._entry) != self._options:
            self.clear()
            self._begin()
            return
        kept = [
            subject
            for heartbeat_id in self._entry.subentries
            for subject in self._subjects(heartbeat_id).values()
        ]
        self._drop_if(lambda _, subject: subject not in kept)

    @callback
    def clear(self) -> None:
        """Drop them all: the endpoint is another one now, or unloaded."""
        self._drop_if(lambda *_: True)

    def _begin(self) -> None:
        self._options = mind_options(self._entry)
        self._since = dt_util.utcnow()
        self._windows = defaultdict[_Subject, Window](Window)

    def _subjects(self, heartbeat_id: str) -> dict[str, _Subject]:
        data = self._entry.subentries[heartbeat_id].data
        model = data.get(CONF_MODEL) or self._entry.data.get(CONF_MODEL, "")
        return {
            _SERVER: (_SERVER, None),
            _MODEL: (_MODEL, model),
            _HEARTBEAT: (heartbeat_id, data),
        }

    def _fail(
        self, error: RunError, heartbeat_id: str, subjects: Mapping[str, _Subject]
    ) -> None:
        at_fault = _AT_FAULT.get(error.kind)
        if error.kind == ErrorKind.AUTH and not has_key(self._entry):
            at_fault = _SERVER
        if at_fault is None:
            return
        self._raise(
            error.kind,
            subjects[at_fault],
            ir.IssueSeverity.ERROR,
            heartbeat_id,
            reason=error.message,
        )

    def _weigh(self, reading: Reading, heartbeat_id: str, model: _Subject) -> bool:
        """Say whether this was cut off; the log hears of it once."""
        is_cut_off = self._windows[model].note(reading)
        if is_cut_off is False:
            self._drop_if(
                lambda issue_id, subject: (
                    subject == model and issue_id.startswith(CONTEXT_TRUNCATED)
                )
            )
        if not is_cut_off:
            return False
        sent, read = str(reading.expected), str(reading.reported)
        is_new = self._raise(
            CONTEXT_TRUNCATED,
            model,
            ir.IssueSeverity.WARNING,
            heartbeat_id,
            sent=sent,
            read=read,
        )
        if is_new:
            _LOGGER.warning(
                "%s: the server read %s of about %s tokens; give the model a longer"
                " context",
                self._entry.subentries[heartbeat_id].title,
                read,
                sent,
            )
        return True

    def _raise(
        self,
        key: str,
        subject: _Subject,
        severity: ir.IssueSeverity,
        heartbeat_id: str,
        **placeholders: str,
    ) -> bool:
        """Put up an issue, or put new words into it; returns whether it is new.

        `heartbeat_id` is of the heartbeat that has met it last.
        """
        whose, what = subject
        name = f"{key}_{self._entry.entry_id}_{whose}"
        issue_id = f"{name}_{slugify(what)}" if isinstance(what, str) else name
        is_new = issue_id not in self._open
        self._open[issue_id] = subject
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            issue_id,
            data={ATTR_HEARTBEAT_ID: heartbeat_id},
            is_fixable=True,
            severity=severity,
            translation_key=key,
            translation_placeholders={
                "endpoint": self._entry.title,
                "heartbeat": self._entry.subentries[heartbeat_id].title,
                **placeholders,
            },
        )
        return is_new

    def _drop_if(self, is_over: Callable[[str, _Subject], bool]) -> None:
        for issue_id, subject in [*self._open.items()]:
            if is_over(issue_id, subject):
                del self._open[issue_id]
                ir.async_delete_issue(self._hass, DOMAIN, issue_id)
