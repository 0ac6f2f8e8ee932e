"""The replay gives recorded windows, resampled, and mixes them between measured sizes."""

from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

MakeWindow = Callable[..., Window]
MakeSweep = Callable[..., WorkloadSweep]


@pytest.fixture
def stored(make_window: MakeWindow) -> WorkloadSweep:
    windows = [
        make_window({"a": {1.0: 1000}}, PoolTuple(4, 3, 500)),
        make_window({"a": {1.0: 2000}}, PoolTuple(4, 3, 500)),
        make_window({"a": {20.0: 4000}}, PoolTuple(16, 3, 500)),
    ]
    return WorkloadSweep.build(
        ((0, window) for window in windows),
        workload_id="w",
        family="f",
        split="train",
        limits=KnobSpace.stock(4),
        objective=Objective(),
    )


def test_repeats_are_resampled_by_the_seed(stored: WorkloadSweep) -> None:
    def replay(seed: int) -> list[float]:
        server = RecordedServer(stored, seed=seed)
        return [server.observe(1.0).throughput_per_s for _ in range(20)]

    assert set(replay(0)) == {1000.0, 2000.0}
    assert replay(0) == replay(0)


def test_rates_do_not_depend_on_the_length_asked_for(stored: WorkloadSweep) -> None:
    window = RecordedServer(stored, initial=PoolTuple(16, 3, 500)).observe(3.0)
    assert (window.duration_s, window.throughput_per_s) == (3.0, 4000.0)
    assert window.classes["a"].latency.count == 12_000


def test_between_sizes_classes_are_mixed(stored: WorkloadSweep) -> None:
    server = RecordedServer(stored)
    server.apply(PoolTuple(8, 3, 500))
    windows = [server.observe(1.0) for _ in range(200)]
    assert {window.pool_tuple.pool_size for window in windows} == {8}
    assert np.mean([window.throughput_per_s for window in windows]) == pytest.approx(2750.0, rel=0.02)
    assert {window.classes["a"].latency.count_below(10_000.0) for window in windows} == {500.0, 1000.0}


def test_mixing_rounds_at_random_and_loses_no_single_late_request(make_window: MakeWindow) -> None:
    windows = [
        make_window({"a": {1.0: 9, 500.0: 1}}, PoolTuple(4, 3, 500)),
        make_window({"a": {1.0: 10}}, PoolTuple(16, 3, 500)),
    ]
    swept = WorkloadSweep.build(
        ((0, window) for window in windows),
        workload_id="w",
        family="f",
        split="train",
        limits=KnobSpace.stock(4),
        objective=Objective(),
    )
    server = RecordedServer(swept, initial=PoolTuple(8, 3, 500))
    late = [window.classes["a"].latency.counts[200:].sum() for window in (server.observe(1.0) for _ in range(400))]
    assert np.mean(late) == pytest.approx(0.5, abs=0.1)


def test_replay_of_a_swept_curve_keeps_its_optimum(make_sweep: MakeSweep) -> None:
    server = RecordedServer(make_sweep(noise=0.02))
    rates = {}
    for size in (1, 6, 16, 40):
        server.apply(PoolTuple(size, 3, 500))
        rates[size] = server.observe(1.0).throughput_per_s
    assert max(rates, key=lambda size: rates[size]) == 16


def test_tuple_out_of_range_is_refused(stored: WorkloadSweep) -> None:
    with pytest.raises(SettingError, match=r"1\.\.128"):
        RecordedServer(stored, initial=PoolTuple(200, 3, 500))
