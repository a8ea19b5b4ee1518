"""Media players: speakers."""

from homeassistant.components.media_player import (
    MediaPlayerDeviceClass,
    MediaPlayerEntity,
    MediaPlayerEntityFeature,
    MediaPlayerState,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import ThingEntity, put_up


async def async_setup_entry(
    _hass: HomeAssistant, entry: ConfigEntry, add: AddConfigEntryEntitiesCallback
) -> None:
    """Put up the speakers."""
    put_up("media_player", BenchMediaPlayer, entry, add)


class BenchMediaPlayer(ThingEntity, MediaPlayerEntity):
    """A speaker that is idle at first."""

    _attr_device_class = MediaPlayerDeviceClass.SPEAKER
    _attr_supported_features = (
        MediaPlayerEntityFeature.PLAY
        | MediaPlayerEntityFeature.PAUSE
        | MediaPlayerEntityFeature.STOP
        | MediaPlayerEntityFeature.TURN_ON
        | MediaPlayerEntityFeature.TURN_OFF
        | MediaPlayerEntityFeature.VOLUME_SET
        | MediaPlayerEntityFeature.VOLUME_MUTE
        | MediaPlayerEntityFeature.SELECT_SOURCE
    )
    _attr_source_list = ["Radio", "Line in", "Bluetooth"]  # noqa: RUF012 - HA's way
    _attr_source = "Radio"
    _attr_state = MediaPlayerState.IDLE
    _attr_volume_level = 0.3
    _attr_is_volume_muted = False

    async def async_media_play(self) -> None:
        """Play."""
        self.become(state=MediaPlayerState.PLAYING)

    async def async_media_pause(self) -> None:
        """Pause."""
        self.become(state=MediaPlayerState.PAUSED)

    async def async_media_stop(self) -> None:
        """Stop."""
        self.become(state=MediaPlayerState.IDLE)

    async def async_turn_on(self) -> None:
        """Be on."""
        self.become(state=MediaPlayerState.IDLE)

    async def async_turn_off(self) -> None:
        """Be off."""
        self.become(state=MediaPlayerState.OFF)

    async def async_set_volume_level(self, volume: float) -> None:
        """Be as loud as told."""
        self.become(volume_level=volume)

    async def async_mute_volume(self, mute: bool) -> None:  # noqa: FBT001 - HA's way
        """Be silent, or not."""
        self.become(is_volume_muted=mute)

    async def async_select_source(self, source: str) -> None:
        """Take the sound from elsewhere."""
        self.become(source=source)
