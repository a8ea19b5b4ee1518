"""Answers to requests, from whoever may give them (A2, P1, P6)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import secrets

from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError, Unauthorized, UnknownUser

from ..const import DOMAIN
from ..engine.approvals import Approval
from ..engine.errors import ApprovalError, ApprovalFault
from ..heartbeat.heartbeat import Heartbeat
from ..identity import switch_of
from ..texts import cached_sentence

AUTOMATION = "automation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for a yes, as it was when it was found, and its heartbeat."""

    heartbeat: Heartbeat
    approval: Approval

    @property
    def now(self) -> Approval:
        """The request as it stands now; as it was found if it is kept no more."""
        known = (
            one
            for one in self.heartbeat.asking.all
            if one.approval_id == self.approval.approval_id
        )
        return next(known, self.approval)


class Answers:
    """Finds the requests of an endpoint's heartbeats, and takes answers to them.

    `descends` says whether a context comes from a run of any endpoint (A2).
    """

    def __init__(
        self,
        hass: HomeAssistant,
        heartbeats: Mapping[str, Heartbeat],
        descends: Callable[[Context], bool],
    ) -> None:
        """Serve these heartbeats, also those that are added later."""
        self._hass = hass
        self._heartbeats = heartbeats
        self._descends = descends

    def by_id(self, approval_id: str) -> Request | None:
        """Return the request with this id."""
        return next(
            (one for one in self._all() if one.approval.approval_id == approval_id),
            None,
        )

    def by_secret(self, secret: str) -> Request | None:
        """Return the request with this secret; any secret takes equally long."""
        tapped = secret.encode(errors="replace")
        fitting = [
            one
            for one in self._all()
            if secrets.compare_digest(one.approval.secret.encode(), tapped)
        ]
        return fitting[0] if tapped and fitting else None

    async def async_take(
        self, request: Request, *, yes: bool, context: Context
    ) -> Approval:
        """Check who answers, take the answer, return the request as it then is.

        Raises `Unauthorized`, or `ApprovalError` for an answer that is not taken or has
        no effect (P4, P6).
        """
        asking, approval_id = request.heartbeat.asking, request.approval.approval_id
        if self._descends(context):
            raise ApprovalError(ApprovalFault.BY_OWN_RUN)
        answered_by = await self._name_of(request.heartbeat, context)
        if yes:
            return await asking.async_approve(approval_id, answered_by)
        return await asking.async_reject(approval_id, answered_by)

    async def async_answer(
        self, request: Request, *, yes: bool, context: Context
    ) -> Approval:
        """Take an answer given by a button or an action, as `async_take` does.

        Raises `Unauthorized`, or `ServiceValidationError` in place of `ApprovalError`.
        """
        try:
            return await self.async_take(request, yes=yes, context=context)
        except ApprovalError as err:
            raise ServiceValidationError(
                translation_domain=DOMAIN,
                translation_key=err.kind,
                translation_placeholders={
                    **placeholders(self._hass, request),
                    "reason": err.detail,
                },
            ) from err

    async def _name_of(self, heartbeat: Heartbeat, context: Context) -> str:
        """Return the name of who answers; raises `Unauthorized` (P1)."""
        if context.user_id is None:
            return AUTOMATION
        user = await self._hass.auth.async_get_user(context.user_id)
        if user is None:
            raise UnknownUser(context=context)
        switch = switch_of(self._hass, heartbeat.id)
        may_control = user.is_admin or (
            switch is not None and user.permissions.check_entity(switch, POLICY_CONTROL)
        )
        if not user.is_active or not may_control:
            raise Unauthorized(
                context=context, entity_id=switch, permission=POLICY_CONTROL
            )
        return user.name or user.id

    def _all(self) -> Iterator[Request]:
        for heartbeat in self._heartbeats.values():
            for approval in heartbeat.asking.all:
                yield Request(heartbeat=heartbeat, approval=approval)


def placeholders(hass: HomeAssistant, request: Request) -> dict[str, str]:
    """Return what sentences about a request can name."""
    approval = request.now
    return {
        "heartbeat": request.heartbeat.options.title,
        "request": approval.words,
        "who": name_of(hass, approval.answered_by),
    }


def name_of(hass: HomeAssistant, answered_by: str | None) -> str:
    """Name who has answered, in a sentence."""
    if answered_by == AUTOMATION:
        return cached_sentence(hass, "an_automation")
    return answered_by or ""
