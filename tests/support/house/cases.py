"""What is asked of each entity of the house, and what must come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

type Arguments = Mapping[str, Any]
type Call = tuple[str, Arguments]

NEEDS_A_YES: Final = "The owner has been asked and has not answered yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One entity: a call that does something, and one that is refused.

    A tool's name begins with its domain, `does` and `wrong` leave that out; the entity
    is filled in where a call names none. What is `risky` needs a yes; the refused call
    is then the very call that does something, if `wrong` is not given. If the state
    `shows` that all is as asked already, nothing is called a second time. `sent` are
    the arguments as Home Assistant writes them, where it does so in its own way.
    """

    entity_id: str
    does: Call
    state: str | None = None
    attributes: Arguments = field(default_factory=dict)
    wrong: Call | None = None
    because: str = NEEDS_A_YES
    risky: bool = False
    shows: bool = True
    sent: Arguments | None = None

    @property
    def domain(self) -> str:
        return self.entity_id.partition(".")[0]

    @property
    def name(self) -> str:
        return f"{self.entity_id}-{self.does[0]}"

    @property
    def action(self) -> str:
        """The action that Home Assistant should be asked for."""
        return self.does[0]

    def call(self) -> Call:
        """Return the tool call that does something."""
        return self._filled(self.does)

    def data(self) -> Arguments:
        """Return the data with which the action is called."""
        return self._filled((self.action, self.sent or self.does[1]))[1]

    def refused_call(self) -> Call:
        """Return the tool call that is refused."""
        return self._filled(self.wrong or self.does)

    def _filled(self, call: Call) -> Call:
        action, arguments = call
        if self.domain == "script":
            return action, arguments
        return f"{self.domain}_{action}", {"entity_id": [self.entity_id], **arguments}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One entity that answers: a call, what is in its answer, and a refused call."""

    entity_id: str
    reads: Call
    answer: Mapping[str, Any]
    wrong: Call
    because: str


_SONG: Final = {"media_content_id": "song", "media_content_type": "music"}

CASES: Final = (
    Case(
        entity_id="light.lamp",
        does=("turn_on", {"brightness_pct": 40}),
        state="on",
        attributes={"brightness": 102},
        wrong=("turn_on", {"brightness_pct": 140}),
        because="brightness_pct",
    ),
    Case(
        entity_id="light.lamp",
        does=("turn_on", {"color_temp_kelvin": 4000}),
        state="on",
        attributes={"color_temp_kelvin": 4000},
        wrong=("turn_on", {"color_temp_kelvin": 9000}),
        because="color_temp_kelvin: must be 2202 to 6535",
    ),
    Case(
        entity_id="light.lamp",
        does=("turn_on", {"effect": "candle"}),
        state="on",
        attributes={"effect": "candle"},
        wrong=("turn_on", {"effect": "strobe"}),
        because="effect: must be one of: none, candle, party",
    ),
    Case(
        entity_id="switch.plug",
        does=("turn_on", {}),
        state="on",
        wrong=("turn_on", {"entity_id": ["switch.heater"]}),
        because="entity_id: must be one of: switch.plug",
    ),
    Case(
        entity_id="fan.fan",
        does=("set_percentage", {"percentage": 50}),
        state="on",
        attributes={"percentage": 50},
        wrong=("set_preset_mode", {"preset_mode": "hurricane"}),
        because="preset_mode: must be one of: calm, storm",
    ),
    Case(
        entity_id="climate.thermostat",
        does=("set_temperature", {"temperature": 20.5}),
        state="heat",
        attributes={"temperature": 20.5},
        wrong=("set_temperature", {"temperature": 40}),
        because="temperature: must be 7 to 28",
    ),
    Case(
        entity_id="climate.aircon",
        does=("set_hvac_mode", {"hvac_mode": "heat_cool"}),
        state="heat_cool",
        wrong=("set_hvac_mode", {"hvac_mode": "dry"}),
        because="hvac_mode: must be one of: off, cool, heat_cool",
    ),
    Case(
        entity_id="climate.aircon",
        does=("set_temperature", {"target_temp_low": 19, "target_temp_high": 25}),
        attributes={"target_temp_low": 19, "target_temp_high": 25},
        wrong=("set_fan_mode", {"fan_mode": "gale"}),
        because="fan_mode: must be one of: quiet, strong",
    ),
    Case(
        entity_id="cover.blind",
        does=("set_cover_position", {"position": 30}),
        state="open",
        attributes={"current_position": 30},
        wrong=("set_cover_position", {"position": 130}),
        because="position",
    ),
    Case(
        entity_id="cover.garage", does=("close_cover", {}), state="closed", risky=True
    ),
    Case(
        entity_id="lock.front",
        does=("unlock", {}),
        state="unlocked",
        risky=True,
    ),
    Case(
        entity_id="valve.garden",
        does=("set_valve_position", {"position": 40}),
        state="open",
        attributes={"current_position": 40},
        risky=True,
    ),
    Case(
        entity_id="valve.garden",
        does=("open_valve", {}),
        state="open",
        wrong=("set_valve_position", {"position": -1}),
        because="position",
        risky=True,
    ),
    Case(
        entity_id="siren.attic",
        shows=False,
        does=("turn_on", {"tone": "fire", "volume_level": 0.5, "duration": 5}),
        state="on",
        attributes={"played": {"tone": "fire", "volume_level": 0.5, "duration": 5}},
        risky=True,
    ),
    Case(
        entity_id="siren.attic",
        does=("turn_on", {}),
        state="on",
        wrong=("turn_on", {"tone": "song"}),
        because="tone: must be one of: fire, doorbell",
        risky=True,
    ),
    Case(
        entity_id="alarm_control_panel.house",
        does=("alarm_arm_away", {}),
        state="armed_away",
        risky=True,
    ),
    Case(
        entity_id="media_player.radio",
        does=("volume_set", {"volume_level": 0.3}),
        attributes={"volume_level": 0.3},
        wrong=("select_source", {"source": "Nowhere"}),
        because="source: must be one of: News, Jazz",
    ),
    Case(
        entity_id="media_player.radio",
        does=("select_source", {"source": "Jazz"}),
        attributes={"source": "Jazz"},
        wrong=("volume_set", {"volume_level": 30}),
        because="volume_level",
    ),
    Case(
        entity_id="media_player.radio",
        shows=False,
        does=("play_media", {"media": _SONG}),
        sent=_SONG,
        state="playing",
        risky=True,
    ),
    Case(
        entity_id="media_player.radio",
        shows=False,
        does=("play_media", {"media": _SONG}),
        sent=_SONG,
        state="playing",
        wrong=("play_media", {"media": {**_SONG, "entity_id": "media_player.other"}}),
        because="entity_id",
        risky=True,
    ),
    Case(
        entity_id="vacuum.robot",
        does=("start", {}),
        state="cleaning",
        wrong=("clean_spot", {}),
    ),
    Case(
        entity_id="vacuum.robot",
        does=("set_fan_speed", {"fan_speed": "strong"}),
        attributes={"fan_speed": "strong"},
        wrong=("set_fan_speed", {"fan_speed": "warp"}),
        because="fan_speed: must be one of: quiet, strong",
        risky=True,
    ),
    Case(
        entity_id="lawn_mower.mower",
        does=("start_mowing", {}),
        state="mowing",
        risky=True,
    ),
    Case(
        entity_id="humidifier.mister",
        does=("set_humidity", {"humidity": 55}),
        attributes={"humidity": 55},
        wrong=("set_humidity", {"humidity": 95}),
        because="humidity: must be 20 to 70",
    ),
    Case(
        entity_id="water_heater.boiler",
        does=("set_temperature", {"temperature": 55}),
        attributes={"temperature": 55},
        wrong=("set_temperature", {"temperature": 90}),
        because="temperature: must be 30 to 65",
    ),
    Case(
        entity_id="water_heater.boiler",
        does=("set_operation_mode", {"operation_mode": "performance"}),
        state="performance",
        wrong=("set_operation_mode", {"operation_mode": "gas"}),
        because="operation_mode: must be one of: off, eco, performance",
    ),
    Case(
        entity_id="number.brew",
        does=("set_value", {"value": 35}),
        state="35.0",
        wrong=("set_value", {"value": 61}),
        because="value: must be 5 to 60",
    ),
    Case(
        entity_id="select.roast",
        does=("select_option", {"option": "dark"}),
        state="dark",
        wrong=("select_option", {"option": "burnt"}),
        because="option: must be one of: light, dark",
    ),
    Case(
        entity_id="text.sign",
        does=("set_value", {"value": "Away"}),
        state="Away",
        risky=True,
    ),
    Case(
        entity_id="text.sign",
        does=("set_value", {"value": "Home"}),
        state="Home",
        wrong=("set_value", {"value": "This is far too long for it"}),
        because="value: text.sign takes 1 to 20 characters",
        risky=True,
    ),
    Case(
        entity_id="button.descale",
        shows=False,
        does=("press", {}),
        state="2026-12-01T08:00:00+00:00",
        risky=True,
    ),
    Case(
        entity_id="update.firmware",
        shows=False,
        does=("install", {}),
        state="off",
        attributes={"installed_version": "1.1"},
        risky=True,
    ),
    Case(
        entity_id="scene.evening",
        shows=False,
        does=("turn_on", {}),
        state="2026-12-01T08:00:00+00:00",
        wrong=("turn_on", {"entity_id": ["scene.party"]}),
        because="entity_id: must be one of: scene.evening",
    ),
    Case(
        entity_id="script.feed",
        shows=False,
        does=("feed", {"food": "meal", "portions": 2}),
        state="off",
        wrong=("feed", {"food": "stones"}),
        because="food",
    ),
    Case(
        entity_id="input_boolean.guests",
        does=("turn_on", {}),
        state="on",
        wrong=("turn_on", {"brightness": 3}),
        because="does not take 'brightness'",
    ),
    Case(
        entity_id="input_number.target",
        does=("set_value", {"value": 4.5}),
        state="4.5",
        wrong=("set_value", {"value": "all of it"}),
        because="value: must be a number",
    ),
    Case(
        entity_id="input_select.mood",
        does=("select_option", {"option": "wild"}),
        state="wild",
        wrong=("select_option", {"option": "grim"}),
        because="option: must be one of: calm, wild",
    ),
    Case(
        entity_id="input_text.note",
        does=("set_value", {"value": "Water the plants"}),
        state="Water the plants",
        risky=True,
    ),
    Case(
        entity_id="input_datetime.alarm_clock",
        shows=False,
        does=("set_datetime", {"time": "06:30:00"}),
        state="06:30:00",
        risky=True,
    ),
    Case(
        entity_id="input_datetime.trip",
        shows=False,
        does=("set_datetime", {"date": "2026-12-24", "time": "18:00:00"}),
        state="2026-12-24 18:00:00",
        wrong=("set_datetime", {"date": "Christmas Eve"}),
        because="date:",
        risky=True,
    ),
    Case(
        entity_id="input_button.bell",
        shows=False,
        does=("press", {}),
        state="2026-12-01T08:00:00+00:00",
        risky=True,
    ),
    Case(
        entity_id="counter.cups",
        shows=False,
        does=("increment", {}),
        state="3",
        wrong=("set_value", {"value": 10}),
        because="value: must be 0 to 9",
    ),
    Case(
        entity_id="timer.eggs",
        shows=False,
        does=("start", {"duration": {"minutes": 4}}),
        state="active",
        attributes={"duration": "0:04:00"},
        wrong=("start", {"duration": "soon"}),
        because="duration",
    ),
    Case(
        entity_id="todo.errands",
        shows=False,
        does=("add_item", {"item": "Buy oats", "due_date": "2026-12-03"}),
        state="1",
        wrong=("remove_item", {"item": "Buy oats"}),
    ),
    Case(
        entity_id="calendar.family",
        shows=False,
        does=(
            "create_event",
            {
                "summary": "Vet",
                "start_date_time": "2026-11-30 23:30:00",
                "end_date_time": "2026-12-01 00:30:00",
            },
        ),
        state="on",
        attributes={"message": "Vet"},
        wrong=("create_event", {"start_date": "2026-12-02"}),
        because="summary: required key not provided",
    ),
)

# More that needs a yes, when the house is as the cases have left it.
RISKY: Final[tuple[tuple[str, Call], ...]] = (
    ("alarm_control_panel.house", ("alarm_control_panel_alarm_disarm", {})),
    ("alarm_control_panel.house", ("alarm_control_panel_alarm_trigger", {})),
    ("cover.garage", ("cover_open_cover", {})),
    ("cover.garage", ("cover_stop_cover", {})),
    ("lock.front", ("lock_lock", {})),
    ("lock.front", ("lock_open", {})),
    ("valve.garden", ("valve_close_valve", {})),
    ("siren.attic", ("siren_turn_off", {})),
    ("lawn_mower.mower", ("lawn_mower_dock", {})),
    ("lawn_mower.mower", ("lawn_mower_pause", {})),
    ("update.firmware", ("update_skip", {})),
    ("vacuum.robot", ("vacuum_locate", {})),
    ("vacuum.robot", ("vacuum_stop", {})),
    ("media_player.radio", ("media_player_turn_off", {})),
    ("todo.errands", ("todo_update_item", {"item": "Oats", "rename": "Hay"})),
    ("todo.errands", ("todo_remove_completed_items", {})),
)

READINGS: Final = (
    Reading(
        entity_id="weather.sky",
        reads=("weather_get_forecasts", {"type": "daily"}),
        answer={
            "forecast": [
                {
                    "condition": "rainy",
                    "datetime": "2026-12-02T00:00:00+00:00",
                    "temperature": 14.0,
                }
            ]
        },
        wrong=("weather_get_forecasts", {"type": "twice_daily"}),
        because="type: must be one of: daily, hourly",
    ),
    Reading(
        entity_id="todo.errands",
        reads=("todo_get_items", {"status": ["needs_action"]}),
        answer={"items": []},
        wrong=("todo_get_items", {"status": ["forgotten"]}),
        because="status",
    ),
    Reading(
        entity_id="calendar.family",
        reads=("calendar_get_events", {"duration": {"hours": 24}}),
        answer={"events": []},
        wrong=("calendar_get_events", {"entity_id": ["calendar.work"]}),
        because="entity_id: must be one of: calendar.family",
    ),
)
