"""Where the settings of a climb come from, and their file while the climb runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from poolpilot.env.climbing.spectral import ClimbSettings, native_settings
from poolpilot.env.climbing.spectral_settings import SpectralModel, spectral_model
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralSettings

LOGGED_RECORDS = 50_000
"""Records kept by default: three hours and a half of four samples a second."""

Stamp = tuple[int, int, int] | None
"""What changes when a file is written or replaced; None where there is no file."""


class SettingSources:
    """Flags win over the environment, the environment over the file, the file over the command's defaults.

    Args:
        period_s: Seconds of a sample where nobody says otherwise.
        file: TOML file of settings, which may change while the climb runs.
        flags: Values by name.
    """

    def __init__(self, period_s: float, file: Path | None, flags: Mapping[str, object]) -> None:
        self.model = _model(period_s)
        self._file = file
        self._flags = dict(flags)
        self._stamp: Stamp = None

    def load(self) -> SpectralSettings:
        """Reads all sources.

        Raises:
            SettingError: The file is missing or broken, there is no such setting, or a value is out of its range or
                contradicts another.
        """
        self._stamp = _stamp(self._file)  # taken first: what is written from now on is read again
        return self.model.load(self._file, self._flags).native()

    def changed(self) -> SpectralSettings | None:
        """The settings anew if the file is not the one read last, else None.

        Raises:
            SettingError: As `load`; said once for each change of the file.
        """
        return None if _stamp(self._file) == self._stamp else self.load()


def flags_of(assignments: Sequence[str], period_s: float | None) -> dict[str, object]:
    """Values by name from `--set NAME=VALUE`, and from `--period`, which they may overrule.

    Raises:
        SettingError: One is no assignment.
    """
    fixed = {} if period_s is None else {"adapt_period": False, "hcm_period": period_s, "hcm_min_period": period_s}
    pairs = [one.partition("=") for one in assignments]
    for whole, (name, sign, value) in zip(assignments, pairs, strict=True):
        if not (name.strip() and sign and value.strip()):
            raise SettingError(f"--set wants NAME=VALUE, such as hcm_eps=3, and not {whole!r}")
    return fixed | {name.strip(): value.strip() for name, _, value in pairs}


def _model(period_s: float) -> type[SpectralModel]:
    return spectral_model(native_settings(ClimbSettings(period_s=period_s).native(), log_limit=LOGGED_RECORDS))


def _stamp(file: Path | None) -> Stamp:
    try:
        seen = file.stat() if file else None
    except OSError:
        return None
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino) if seen else None
