"""The curve serves in virtual time and its windows agree with the curve."""

import numpy as np
import pytest

from poolpilot.env.climbing.climb import mean_latency_s
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

HUMP = ((1, 100.0), (16, 900.0), (64, 300.0))


def test_window_shows_the_throughput_and_the_latency_of_a_closed_loop() -> None:
    server = CurveServer(HUMP, connections=45, initial=PoolTuple(16, 3, 500))
    window = observe(server, 2.0).window
    assert window.throughput_per_s == pytest.approx(900.0)
    assert mean_latency_s(window) == pytest.approx(0.05, rel=0.04)
    assert window.profile.features["connections"] == 45.0


def test_no_completion_is_lost_to_rounding() -> None:
    server = CurveServer([(1, 3.0)])
    for _ in range(100):
        server.run_for(0.1)
    assert server.snapshot().counters["completed"] in (29.0, 30.0)


def test_change_of_the_tuple_raises_the_epoch_and_spoils_a_window() -> None:
    server = CurveServer(HUMP)
    before = server.snapshot()
    assert server.apply(PoolTuple(16, 3, 500)) == server.tuple_in_force() == PoolTuple(16, 3, 500)
    server.run_for(1.0)
    with pytest.raises(ServerError):
        Window.between(before, server.snapshot())


def test_tables_are_chosen_by_the_nearest_other_knobs() -> None:
    server = CurveServer({(1, 10): [(1, 10.0)], (10, 500): [(1, 500.0)]})
    assert server.throughput_per_s(PoolTuple(1, 1, 20)) == 10.0
    assert server.throughput_per_s(PoolTuple(1, 9, 400)) == 500.0


def test_noise_has_the_asked_size_and_follows_its_seed() -> None:
    def logs(seed: int) -> list[float]:
        server = CurveServer([(1, 1e6)], noise=0.1, seed=seed)
        return [float(np.log(observe(server, 1.0).window.throughput_per_s)) for _ in range(400)]

    assert np.std(logs(0)) == pytest.approx(0.1, rel=0.15)
    assert logs(1) == logs(1)
    assert logs(1) != logs(2)


def test_tuple_out_of_range_and_negative_time_are_refused() -> None:
    server = CurveServer(HUMP)
    with pytest.raises(SettingError, match=r"1\.\.128"):
        server.apply(PoolTuple(200, 3, 500))
    with pytest.raises(SettingError, match="at least 0"):
        server.run_for(-1.0)
