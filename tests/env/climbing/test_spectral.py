"""The factory hands every setting to the climber and keeps it within the server's sizes."""

import pytest

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, native_settings, spectral_climber
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.errors import SettingError

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
        spectral_climber(ClimbSettings(price_of_thread=50.0), KnobSpace.stock(2))


def test_period_is_fixed_unless_it_may_grow() -> None:
    fixed = spectral_climber(ClimbSettings(period_s=0.5), KnobSpace.stock(2))
    assert fixed.period_s == 0.5
    longer = ClimbSettings(period_s=0.5, longest_period_s=2.0).native()
    assert (longer.hcm_min_period, longer.hcm_period, bool(longer.adapt_period)) == (0.5, 2.0, True)


def test_unknown_and_contradicting_settings_are_named() -> None:
    with pytest.raises(SettingError, match="no setting named 'wave_periods'"):
        native_settings(wave_periods=4)
    with pytest.raises(SettingError, match=r"hcm_period is 0\.05, .* the value of hcm_min_period"):
        native_settings(hcm_period=0.05)
