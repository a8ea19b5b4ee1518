"""A template that keeps what its last rendering has read (G2, C4)."""

from typing import Any, Self, override

from homeassistant.core import HomeAssistant
from homeassistant.helpers.template import Template
from homeassistant.helpers.template.render_info import RenderInfo

from .standing import Basis
from .steady import steady_basis


class ReadTemplate(Template):
    """A template like any other, that Home Assistant's own condition renders.

    Of what a rendering has read, the condition itself passes on the entities alone.
    """

    __slots__ = ("_info", "_named")

    def __init__(self, template: str, hass: HomeAssistant) -> None:
        """Begin with nothing read."""
        super().__init__(template, hass)
        self._named = steady_basis(self.template)
        self._info: RenderInfo | None = None

    @classmethod
    def of(cls, template: Template) -> Self:
        """Take the place of a template that has been validated."""
        if template.hass is None:
            raise ValueError("the template belongs to no home")
        return cls(template.template, template.hass)

    @override
    def async_render_to_info(self, *args: Any, **kwargs: Any) -> RenderInfo:
        self._info = super().async_render_to_info(*args, **kwargs)
        return self._info

    @property
    def read(self) -> frozenset[str]:
        """The entities that were read last."""
        return frozenset(self._info.entities) if self._info else frozenset()

    def basis(self) -> Basis | None:
        """Return all that the last rendering rests on; None if more than states."""
        info, named = self._info, self._named
        if named is None or info is None or info.exception or info.has_time:
            return None
        domains = {*named.domains, *info.domains, *info.domains_lifecycle}
        return Basis(
            entity_ids=(*named.entity_ids, *info.entities),
            domains=tuple(domains),
            has_all=named.has_all or info.all_states or info.all_states_lifecycle,
        )
