"""The spectral climber as every program uses it: one settings model, one factory.

The algorithm is that of Ilya Trub, "Adaptive Thread Pool: Improving MySQL Scalability With AI" (docs/references.md).
The pool size swings in a small wave; the component of that period in the throughput, over the same component of the
size, is the slope to climb. What was added, and why, is in docs/climbing.md. It runs in C++ (`native_pool/climb/`).

`ClimbSettings` is the table of the C++ class as a model: a row gives a field its range, effect and unit. A field is
called as its row without `hcm_`, Trub's prefix, and the row's name is an alias of it in files, flags and environment.
"""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralClimber, SpectralSettings
from poolpilot.native_pool.setting_field import setting_field

_OWN_NAMES = {"hcm_min_period": "period_s", "hcm_period": "longest_period_s", "hcm_hiccup": "hiccup_s"}
"""Times tell their unit."""

_ROWS = {row["name"]: row for row in SpectralSettings.fields()}

NATIVE_NAMES = {_OWN_NAMES.get(name, name.removeprefix("hcm_")): name for name in _ROWS}
"""What the fields of `ClimbSettings` are called in C++, in the order of its table."""


def _setting(name: str, **changes: Any) -> Any:
    """The field of a row of the C++ table."""
    row = _ROWS[name]
    own = _OWN_NAMES.get(name, name.removeprefix("hcm_"))
    if isinstance(row["default"], float):
        changes["allow_inf_nan"] = False
    if own != name:
        changes["validation_alias"] = AliasChoices(own, name)
    return setting_field(row, **changes)


class ClimbSettings(BaseModel):
    """How the spectral climber climbs; `poolpilot check --settings climb --defaults` explains the fields.

    What else it goes by are constants, each with its reason, in `native_pool/climb/`.

    Where a default is not that of C++, it suits a server under load rather than a curve. The climber is switched on and
    keeps its log; its samples are equally long; its first wave is half the size. It pauses under one request a second:
    Trub's 300 suit 72 processors. It decides by half as many periods, since more precision is lost in what a pool still
    holds of earlier sizes. It never leaves a held size on two samples alone, which on a live server are often a hiccup,
    and measures that size again for longer than another process takes a processor for. A warm start holds at once,
    since the predictor has measured already.

    Examples:
        >>> ClimbSettings(period_s=0.5) == ClimbSettings.model_validate({"hcm_min_period": 0.5})
        True
        >>> ClimbSettings(period_s=0.5).native().hcm_period
        0.5
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hillclimbing_enabled: bool = _setting("hcm_hillclimbing_enabled", default=True)
    log_enabled: bool = _setting("hcm_log_enabled", default=True)
    log_limit: int = _setting("log_limit")
    samples_to_wave_period_ratio: int = _setting("samples_to_wave_period_ratio", default=4)
    longest_period_s: float | None = _setting("hcm_period", default=None)
    period_s: float = _setting("hcm_min_period", default=0.1)
    min_accepted_throughput: float = _setting("min_accepted_throughput", default=1.0)
    min_thread_wave_magnitude: float = _setting("hcm_min_thread_wave_magnitude", default=18.0)
    price_of_thread: float = _setting("price_of_thread", default=0.01)
    confidence: float = _setting("confidence")
    scan_rounds: int = _setting("scan_rounds")
    scan_worth: float = _setting("scan_worth")
    verify_warm_start: bool = _setting("verify_warm_start", default=False)
    hiccup_s: float = _setting("hcm_hiccup", default=1.5)
    quick_exit_samples: int = _setting("hcm_quick_exit_samples", default=0)
    trubs_method: bool = _setting("trubs_method")

    def native(self) -> SpectralSettings:
        """The climber's own settings; without a longest period its samples are equal, and with one they may grow.

        Raises:
            SettingError: Two values contradict each other; the text names both settings.
        """
        values = {name: getattr(self, field) for field, name in NATIVE_NAMES.items()}
        if self.longest_period_s is None:
            values["hcm_period"] = self.period_s
        return native_settings(**values)


def native_settings(base: SpectralSettings | None = None, **settings: float) -> SpectralSettings:
    """The climber's settings with some of them replaced.

    Args:
        base: What they replace; the defaults if None.
        **settings: Values by name.

    Raises:
        SettingError: There is no such setting, or a value is out of its range or contradicts another.
    """
    try:
        return (base or SpectralSettings()).replaced(**settings)
    except (TypeError, ValueError) as error:
        raise SettingError(str(error)) from error


def as_native(settings: ClimbSettings | SpectralSettings) -> SpectralSettings:
    """The climber's own settings, whichever they are given as.

    Raises:
        SettingError: A value is out of the climber's range or contradicts another.
    """
    return settings.native() if isinstance(settings, ClimbSettings) else settings


def spectral_climber(
    settings: ClimbSettings | SpectralSettings, knobs: KnobSpace, size: int | None = None, *, warm: bool = False
) -> SpectralClimber:
    """Makes a climber over the sizes a server allows.

    Args:
        settings: How it climbs.
        knobs: The server's knobs.
        size: Size it starts at; the server's default if None.
        warm: Whether it starts as if it had arrived: it holds, and climbs only when what it sees changes.

    Raises:
        SettingError: A setting or the size is out of range.
    """
    sizes = knobs.knobs["pool_size"]
    native = as_native(settings)
    start = int(sizes.default if size is None else size)
    try:
        return SpectralClimber(native, start, int(sizes.low), int(sizes.high), warm=warm)
    except ValueError as error:
        raise SettingError(str(error)) from error
