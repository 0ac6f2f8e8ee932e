"""Paired windows: there and back again, until the differences are known."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.evaluate.live.judging.paired_windows import (
    PairedSettings,
    errors_of,
    paired_windows,
    round_values,
)

CURVE = [(1, 100), (16, 1200), (64, 600)]
CORES = [(16, 3, 10), (1, 3, 10), (64, 3, 10)]
MEASUREMENT = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0)


class Recording(CurveServer):
    """Keeps the sizes that were set."""

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        self.sizes = [*getattr(self, "sizes", []), pool_tuple.pool_size]
        return super().apply(pool_tuple)


def settings(**values: float | MeasurementSettings) -> PairedSettings:
    return PairedSettings.model_validate({"measurement": MEASUREMENT, "least_rounds": 2, **values})


def test_every_round_goes_there_and_back() -> None:
    server = Recording(CURVE)
    windows = paired_windows(server, CORES, Objective(), settings(), np.random.default_rng(0))
    assert [len(each) for each in windows] == [4, 4, 4]
    assert [each[0].pool_tuple.core for each in windows] == CORES
    for begin in (0, 6):
        there, back = server.sizes[begin : begin + 3], server.sizes[begin + 3 : begin + 6]
        assert there == back[::-1]
        assert sorted(there) == [1, 16, 64]


def test_it_ends_when_the_differences_are_known_well_enough() -> None:
    counts = {}
    for noise in (0.0, 0.3):
        server = CurveServer(CURVE, noise=noise, seed=1)
        windows = paired_windows(server, CORES, Objective(), settings(most_rounds=5), np.random.default_rng(0))
        counts[noise] = len(windows[0]) // 2
    assert counts == {0.0: 2, 0.3: 5}


def test_large_differences_need_less_precision_where_that_is_said() -> None:
    counts = {}
    for share in (0.0, 0.5):
        server = CurveServer(CURVE, noise=0.2, seed=1)
        wanted = settings(most_rounds=5, wanted_share=share)
        windows = paired_windows(server, CORES, Objective(), wanted, np.random.default_rng(0))
        counts[share] = len(windows[0]) // 2
    assert counts == {0.0: 5, 0.5: 2}


def test_drift_that_strikes_all_alike_is_no_error() -> None:
    server = CurveServer(CURVE)
    windows = paired_windows(server, CORES, Objective(), settings(), np.random.default_rng(0))
    errors = errors_of(windows, Objective())
    assert errors[0] == 0.0
    assert max(errors) == pytest.approx(0.0, abs=1e-9)


def test_configuration_that_is_there_twice_is_measured_as_two() -> None:
    server = CurveServer(CURVE, noise=0.05, seed=1)
    cores = [CORES[0], CORES[1], CORES[0]]
    windows = paired_windows(server, cores, Objective(), settings(), np.random.default_rng(0))
    assert {window.pool_tuple.core for window in windows[2]} == {CORES[0]}
    assert all(first is not again for first, again in zip(windows[0], windows[2], strict=True))


def test_a_tuple_that_cannot_serve_what_is_offered_spoils_no_window_of_another() -> None:
    poor, good = (1, 1, 500), (2, 1, 500)
    waits = Workload(
        "waits",
        "test",
        (RequestClass("all", (Step("cpu", us=200.0), Step("wait", us=1000.0))),),
        connections=64,
        cpus=2,
        rate_per_s=1200.0,
    )
    paired = settings(measurement=MeasurementSettings(settle_s=0.2, window_s=0.5, window_ticks=0.0))
    with SimulatedServer(waits) as server:
        both = paired_windows(server, [good, poor], Objective(), paired, np.random.default_rng(0))
    with SimulatedServer(waits) as server:
        alone = paired_windows(server, [good], Objective(), paired, np.random.default_rng(0))
    assert max(late(both[0])) == pytest.approx(max(late(alone[0])), rel=0.5)
    assert min(late(both[1])) > 10.0 * max(late(both[0]))


def late(windows: list[Window]) -> list[float]:
    return [p99_ms for window in windows if (p99_ms := window.p99_ms) is not None]


def test_rounds_in_which_a_window_is_empty_are_valued_by_what_ended_in_the_other() -> None:
    full = observe(CurveServer([(1, 2.0), (64, 2.0)], cpus=1), 1.0).window
    nothing = replace(full.classes["all"], throughput_per_s=0.0, latency=Histogram())
    empty = replace(full, classes={"all": nothing})
    assert round_values([full, full, empty, full], Objective()) == pytest.approx(np.log([2.0, 1.0]))
