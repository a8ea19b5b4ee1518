"""Chooses what a run thinks with: a model on a server, or an AI Task entity."""

from dataclasses import replace

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .endpoint.endpoint import EndpointClient, ShapeMemory
from .engine.chat_mind import ChatMind
from .engine.ports import Mind
from .models import EndpointOptions, HeartbeatOptions, TaskOptions
from .task.model import TaskMind


class Minds:
    """Makes the mind of each run; a run in flight keeps the one it has (C7)."""

    def __init__(
        self,
        hass: HomeAssistant,
        options: EndpointOptions | TaskOptions,
        shapes: ShapeMemory,
    ) -> None:
        """Prepare; nothing is asked before a run does."""
        self._hass = hass
        self._shapes = shapes
        self._options = options
        self._clients: dict[str, EndpointClient] = {}

    @callback
    def change(self, options: EndpointOptions | TaskOptions) -> bool:
        """Take the endpoint as it is from the next run on; returns if it is another."""
        if options == self._options:
            return False
        self._options = options
        self._clients.clear()
        return True

    @callback
    def mind(self, heartbeat: HeartbeatOptions, context: Context) -> Mind:
        """Return what thinks in a run of this heartbeat; `context` is the run's.

        An AI Task entity has its own model, whatever the heartbeat names.
        """
        options = self._options
        if isinstance(options, TaskOptions):
            return TaskMind(
                self._hass,
                options.entity_id,
                name=heartbeat.title,
                context=context,
            )
        model = heartbeat.model or options.model
        if model not in self._clients:
            self._clients[model] = self._new_client(replace(options, model=model))
        return ChatMind(self._clients[model])

    def _new_client(self, options: EndpointOptions) -> EndpointClient:
        session = async_get_clientsession(self._hass, verify_ssl=options.verify_ssl)
        return EndpointClient(session, options, shapes=self._shapes)
