"""What `poolpilot climb` uses: the settings of the climber, and those of the command, in one model.

Flags win over the environment, the environment over the file, the file over the defaults.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import PrivateAttr, model_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings
from poolpilot.env.program_settings import assigned
from poolpilot.native_pool import SpectralSettings
from poolpilot.serve.commands.climb.climb_knobs import KnobName, chosen_knobs
from poolpilot.serve.commands.options.target_options import option
from poolpilot.serve.commands.options.tuning_options import TuningOptions

LOGGED_RECORDS = 50_000
"""Records kept by default: three hours and a half of four samples a second."""

ENVIRONMENT_PREFIX = "POOLPILOT_CLIMB_"

OF_A_PERIOD = ("period_s", "longest_period_s")
"""The settings of the climber that --period stands for."""


class ClimbRunSettings(TuningOptions, ClimbSettings):
    """Settings of `poolpilot climb`."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, env_prefix_target="all")

    seconds: float = option(60.0, "Length of the climb.", low=1.0)
    knob: tuple[KnobName, ...] = option((), "What to climb: pool_size, or all.")
    warm: bool = option(False, "Try what is predicted first.")
    model: Path | None = option(None, "What was learned, or a network.")
    set: tuple[str, ...] = option((), "Any setting; repeat it for more.")

    _sources: tuple[Path | None, Mapping[str, Any]] = PrivateAttr(default=(None, {}))

    @classmethod
    def load(cls, file: Path | None, flags: Mapping[str, Any], assignments: Sequence[str] = ()) -> Self:
        """See `ProgramSettings.load`."""
        given = {**flags, "set": tuple(assignments)}
        loaded = super().load(file, given)
        loaded._sources = (file, given)
        return loaded

    @model_validator(mode="before")
    @classmethod
    def _with_shorthands(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Puts what --period and --set stand for in the place of what other sources say; --set has the last word."""
        values = dict(given)
        if (period := values.get("period")) is not None:
            for name in OF_A_PERIOD:
                _put(values, name, period)
        for name, value in assigned(cls, values.get("set", ())).items():
            _put(values, name, value)
        return values

    @model_validator(mode="after")
    def _with_defaults_of_the_command(self) -> Self:
        return self.with_defaults(command_defaults(self.default_period_s))

    @property
    def knobs(self) -> tuple[str, ...]:
        """The knobs to climb."""
        return chosen_knobs(self.knob)

    @property
    def file(self) -> Path | None:
        """The file that some of them came from."""
        return self._sources[0]

    def reloaded(self) -> Self:
        """All of them anew, from the same flags, the environment and the file as it is now.

        Raises:
            SettingError: As `load`.
        """
        return self.load(*self._sources, self.set)


def command_defaults(period_s: float) -> dict[str, Any]:
    """What the command sets otherwise than `ClimbSettings`: samples that a server answers within, and a long log."""
    return {**dict.fromkeys(OF_A_PERIOD, period_s), "log_limit": LOGGED_RECORDS}


def _put(values: dict[str, Any], name: str, value: object) -> None:
    """Sets a value, whichever of its two names another source has set it by."""
    for field, native in NATIVE_NAMES.items():
        if name in (field, native):
            values.pop(field, None)
            values.pop(native, None)
    values[name] = value


Stamp = tuple[int, ...] | None
"""What changes when a file is written or replaced; None where there is no file."""

UNSEEN: Stamp = ()


class SettingsWatch:
    """Looks at the file of a climb's settings while the climb runs.

    Args:
        settings: The settings at the start.
    """

    def __init__(self, settings: ClimbRunSettings) -> None:
        self._settings = settings
        self._stamp: Stamp = UNSEEN

    def changed(self) -> SpectralSettings | None:
        """The climber's settings anew if the file is not the one read last, else None.

        Raises:
            SettingError: The file is gone or broken, or a value is refused; said once for each change of the file.
        """
        stamp = _stamp(self._settings.file)
        if self._settings.file is None or stamp == self._stamp:
            return None
        first, self._stamp = self._stamp == UNSEEN, stamp
        native = self._settings.reloaded().native()
        # The first observation may come after a change: the file was read before there was anything to look at it.
        return None if first and native.as_dict() == self._settings.native().as_dict() else native


def _stamp(file: Path | None) -> Stamp:
    try:
        seen = file.stat() if file else None
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino) if seen else None
