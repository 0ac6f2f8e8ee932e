"""The settings model agrees with the climber's own table; the factory hands every setting to the climber."""

import math
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings, native_settings, spectral_climber
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralSettings

if TYPE_CHECKING:
    from poolpilot.native_pool._core import SettingRow

OTHERWISE = {
    "hcm_hillclimbing_enabled": True,
    "hcm_log_enabled": True,
    "samples_to_wave_period_ratio": 4,
    "hcm_period": 0.1,
    "min_accepted_throughput": 1.0,
    "hcm_min_thread_wave_magnitude": 18.0,
    "price_of_thread": 0.01,
    "verify_warm_start": False,
    "hcm_quick_exit_samples": 0,
    "hcm_hiccup": 1.5,
}
"""What programs set otherwise than the climber's own defaults."""

ROWS = SpectralSettings.fields()
ARCH = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


def test_cold_climb_from_the_default_reaches_the_optimum_of_a_curve() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    climber = spectral_climber(ClimbSettings(), server.knobs)
    trace = tune(
        server,
        ClimbController(climber, server.tuple_in_force(), Objective()),
        Objective(),
        period_s=0.25,
        horizon_s=60.0,
    )
    assert trace.steps[0].pool_tuple.pool_size == 2
    assert trace.steps[-1].goodput_per_s >= 0.95 * 1300.0


def test_warm_climb_holds_where_it_starts() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    start = server.apply(server.tuple_in_force().with_core((30, 3, 10)))
    climber = spectral_climber(ClimbSettings(), server.knobs, start.pool_size, warm=True)
    trace = tune(server, ClimbController(climber, start, Objective()), Objective(), period_s=0.25, horizon_s=20.0)
    assert {step.pool_tuple.pool_size for step in trace.steps} == {30}
    assert climber.mode == "OPTIMIZED"


def test_refused_setting_is_named() -> None:
    with pytest.raises(SettingError, match=r"price_of_thread is 50, but must be in 0\.\.1"):
        spectral_climber(native_settings(price_of_thread=50.0), KnobSpace.stock(2))


def test_period_is_fixed_unless_it_may_grow() -> None:
    fixed = spectral_climber(ClimbSettings(period_s=0.5), KnobSpace.stock(2))
    assert fixed.period_s == 0.5
    longer = ClimbSettings(period_s=0.5, longest_period_s=2.0).native()
    assert (longer.hcm_min_period, longer.hcm_period) == (0.5, 2.0)


def test_unknown_and_contradicting_settings_are_named() -> None:
    with pytest.raises(SettingError, match="no setting named 'wave_periods'"):
        native_settings(wave_periods=4)
    with pytest.raises(SettingError, match=r"hcm_period is 0\.05, .* the value of hcm_min_period"):
        native_settings(hcm_period=0.05)


def test_every_row_of_the_climbers_table_is_a_field_and_nothing_else_is() -> None:
    assert list(ClimbSettings.model_fields) == list(NATIVE_NAMES)
    assert list(NATIVE_NAMES.values()) == [row["name"] for row in ROWS]
    assert ClimbSettings().native().as_dict() == {**SpectralSettings().as_dict(), **OTHERWISE}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_field_has_the_effect_unit_range_and_type_of_its_row_under_both_names(row: "SettingRow") -> None:
    name = {native: own for own, native in NATIVE_NAMES.items()}[row["name"]]
    described = ClimbSettings.model_fields[name].description or ""
    assert row["effect"] in described
    assert row["unit"] in described
    outside = [row["low"] - 1.0] + [row["high"] + 1.0] * math.isfinite(row["high"])
    for spelt in {name, row["name"]}:
        for value in outside:
            with pytest.raises(ValidationError, match=spelt):
                ClimbSettings.model_validate({spelt: value})
    assert type(ClimbSettings().native().as_dict()[row["name"]]) is type(row["default"])


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"wave_periods": 4}, "wave_periods"),
        ({"scan_rounds": 4.5}, r"scan_rounds\n.*integer"),
        ({"trubs_method": "perhaps"}, r"trubs_method\n.*boolean"),
        ({"hcm_hiccup": "inf"}, r"hcm_hiccup\n.*finite"),
        ({"hiccup_s": 1.0, "hcm_hiccup": 2.0}, "hcm_hiccup"),
    ],
)
def test_refused_values_name_the_setting_as_it_was_named(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        ClimbSettings.model_validate(values)


def test_contradiction_names_both_settings() -> None:
    settings = ClimbSettings(period_s=2.0, longest_period_s=1.0)
    with pytest.raises(SettingError, match=r"hcm_period is 1, .*hcm_min_period"):
        settings.native()
