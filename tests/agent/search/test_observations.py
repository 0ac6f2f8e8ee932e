"""The data model of a search: pairs of tuple and metrics that grow, and the best of them by the target asked for."""

import math
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.agent.search.observations import Goal, Observations, target_value
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

CURVE = ((1, 100.0), (2, 200.0), (4, 400.0), (8, 450.0), (16, 100.0))
KNOBS = KnobSpace.stock(4)


def window_of(size: int, scale: float = 1.0) -> Window:
    curve = [(float(at), rate * scale) for at, rate in CURVE]
    return observe(CurveServer(curve, connections=40, initial=PoolTuple(size, 3, 500)), 1.0).window


def observed(target: Goal, *windows: Window, objective: Objective | None = None) -> Observations:
    observations = Observations(objective or Objective(), target, KNOBS.allows)
    for window in windows:
        observations.add(window)
    return observations


def seen_by_server(window: Window, in_system: float | None) -> Window:
    features = {**window.profile.features, "in_system": in_system}
    return replace(window.without_classes(), profile=replace(window.profile, features=features))


def test_grows_pair_by_pair_and_averages_the_windows_of_a_tuple() -> None:
    observations = observed("objective", window_of(2), window_of(4), window_of(2, scale=2.0))
    assert [(measured.pool_tuple.pool_size, measured.count) for measured in observations.measured] == [(2, 2), (4, 1)]
    values = [Objective().value(window) for window in (window_of(2), window_of(2, scale=2.0))]
    assert observations.measured[0].mean == pytest.approx(np.mean(values))
    assert len(observations) == 2


@pytest.mark.parametrize(("target", "size"), [("objective", 4), ("throughput", 8), ("latency", 8)])
def test_target_decides_which_is_best(target: Goal, size: int) -> None:
    objective = Objective(price_of_thread=0.3)
    observations = observed(target, *(window_of(at) for at, _ in CURVE), objective=objective)
    assert observations.best is not None
    assert observations.best.pool_tuple.pool_size == size


def test_latency_is_the_mean_of_all_requests() -> None:
    value = target_value(window_of(4), Objective(), "latency")
    assert math.exp(-value) == pytest.approx(40.0 / 400.0, rel=0.05)


def test_latency_without_clients_is_the_time_in_the_system() -> None:
    window = seen_by_server(window_of(4), in_system=20.0)
    assert math.exp(-target_value(window, Objective(), "latency")) == pytest.approx(20.0 / 400.0)
    with pytest.raises(SettingError, match="choose another target"):
        target_value(seen_by_server(window_of(4), in_system=None), Objective(), "latency")


def test_server_that_answers_nothing_has_no_short_latency() -> None:
    dead = replace(window_of(4), classes={}, duration_s=3.0)
    dead = replace(dead, profile=replace(dead.profile, features={**dead.profile.features, "completed_per_s": 0.0}))
    dead = replace(dead, in_system=40.0)
    assert target_value(dead, Objective(), "latency") == pytest.approx(-math.log(3.0 * 40.0))
    untold = replace(dead.profile, features={**dead.profile.features, "in_system": None})
    alone = replace(dead, in_system=None, profile=untold)
    assert target_value(alone, Objective(), "latency") == pytest.approx(-math.log(3.0))


def test_feasible_beats_infeasible() -> None:
    objective = Objective(max_p99_ms={"all": 150.0})
    observations = observed("objective", window_of(2), window_of(4), objective=objective)
    assert [measured.feasible for measured in observations.measured] == [False, True]
    assert observations.measured[0].value < observations.measured[0].mean
    fast_but_late = observed(
        "objective", window_of(4), window_of(2, scale=10.0), objective=Objective(max_p99_ms={"all": 1.0})
    )
    assert fast_but_late.best is not None
    assert fast_but_late.best.pool_tuple.pool_size == 2


def test_only_an_allowed_tuple_is_the_best() -> None:
    observations = Observations(Objective(), "objective", lambda pool_tuple: pool_tuple.pool_size < 4)
    assert observations.best is None
    for size in (4, 1, 2):
        observations.add(window_of(size))
    assert observations.best is not None
    assert observations.best.pool_tuple.pool_size == 2
    assert len(observations.measured) == 3
    assert len(observations.eligible) == 2


def test_metrics_are_the_mean_features() -> None:
    first, second = window_of(2), window_of(2, scale=2.0)
    metrics = observed("objective", first, second).measured[0].metrics
    present = first.profile.mask() > 0.0
    assert np.isnan(metrics[~present]).all()
    expected = (first.profile.vector() + second.profile.vector()) / 2.0
    np.testing.assert_allclose(metrics[present], expected[present], atol=1e-6)
