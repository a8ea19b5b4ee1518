"""What a repair can do about a heartbeat: find it, or lead to its dialogs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from homeassistant.components.repairs import FlowType, RepairsFlow, RepairsFlowResult
from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    ConfigEntryState,
    ConfigFlowContext,
    ConfigSubentry,
    SubentryFlowContext,
)
from homeassistant.const import ATTR_CONFIG_ENTRY_ID
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import issue_registry as ir
import voluptuous as vol

from ..const import ATTR_HEARTBEAT_ID, DOMAIN, SUBENTRY_HEARTBEAT
from ..heartbeat.heartbeat import Heartbeat
from ..runtime import ProactiveAgentConfigEntry

GONE: Final = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """The heartbeat that an issue is about, at work."""

    entry: ProactiveAgentConfigEntry
    subentry: ConfigSubentry
    heartbeat: Heartbeat


class Fix(RepairsFlow):
    """The dialog of an issue; it stays up until what it is about is mended.

    `ways` are the steps that its menu offers; without any, it leads to `confirm`.
    """

    ways: ClassVar[Sequence[str]] = ()

    @property
    def entry(self) -> ProactiveAgentConfigEntry | None:
        """The endpoint that the issue is about, if it is loaded."""
        about = self.data or {}
        return _loaded_entry(self.hass, about)

    @property
    def affected(self) -> Affected | None:
        """The heartbeat that the issue is about, if it is at work."""
        heartbeat_id = str((self.data or {}).get(ATTR_HEARTBEAT_ID))
        entry = self.entry
        if entry is None:
            return None
        heartbeat = entry.runtime_data.heartbeats.get(heartbeat_id)
        subentry = entry.subentries.get(heartbeat_id)
        if heartbeat is None or subentry is None:
            return None
        return Affected(entry=entry, subentry=subentry, heartbeat=heartbeat)

    @property
    def words(self) -> Mapping[str, str]:
        """What the issue says now; empty if it has gone."""
        issue = ir.async_get(self.hass).async_get_issue(DOMAIN, self.issue_id)
        return (issue.translation_placeholders if issue else None) or {}

    async def async_step_init(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Say what is wrong, and offer what can be done about it."""
        words = dict(self.words)
        if self.ways:
            return self.async_show_menu(
                step_id="init",
                menu_options=[*self.ways],
                description_placeholders=words,
            )
        return self.async_show_form(
            step_id="confirm",
            data_schema=vol.Schema({}),
            description_placeholders=words,
        )

    async def async_step_change_heartbeat(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Go on with the heartbeat's own dialog; the issue goes once it is mended."""
        if (affected := self.affected) is None:
            return self.async_abort(reason=GONE)
        begun = await self.hass.config_entries.subentries.async_init(
            (affected.entry.entry_id, SUBENTRY_HEARTBEAT),
            context=SubentryFlowContext(
                source=SOURCE_RECONFIGURE, subentry_id=affected.subentry.subentry_id
            ),
        )
        return self.async_abort(
            reason="change_heartbeat",
            next_flow=(FlowType.CONFIG_SUBENTRIES_FLOW, begun["flow_id"]),
        )

    async def async_step_change_endpoint(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Go on with the endpoint's own dialog; the issue goes once it is mended."""
        if (entry := self.entry) is None:
            return self.async_abort(reason=GONE)
        begun = await self.hass.config_entries.flow.async_init(
            DOMAIN,
            context=ConfigFlowContext(
                source=SOURCE_RECONFIGURE, entry_id=entry.entry_id
            ),
        )
        if begun["type"] is FlowResultType.ABORT:
            return self.async_abort(reason=GONE)
        return self.async_abort(
            reason="change_endpoint",
            next_flow=(FlowType.CONFIG_FLOW, begun["flow_id"]),
        )


class ChangeFix(Fix):
    """For what only another choice can mend: on to the heartbeat's dialog."""

    async def async_step_confirm(
        self, _user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Lead on."""
        return await self.async_step_change_heartbeat()


def _loaded_entry(
    hass: HomeAssistant, about: Mapping[str, Any]
) -> ProactiveAgentConfigEntry | None:
    for entry in hass.config_entries.async_entries(DOMAIN):
        is_meant = (
            about.get(ATTR_CONFIG_ENTRY_ID) == entry.entry_id
            or about.get(ATTR_HEARTBEAT_ID) in entry.subentries
        )
        if is_meant and entry.state is ConfigEntryState.LOADED:
            return entry
    return None
