"""What ships decides sensibly on small and large machines: trials end near the best, one look never feigns to know."""

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CPUS = (1, 4, 16, 64)
DECISIONS = 5
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


def workload_on(cpus: int) -> Workload:
    """Reads that wait for a disk without telling the pool, and are told of another one: many more groups than CPUs."""
    steps = (
        Step("cpu", us=150.0, variation=0.5),
        Step("wait", us=1500.0, variation=0.3),
        Step("cpu", us=100.0, variation=0.5),
        Step("wait", us=800.0, variation=0.3, kind="disk_io", reported=True),
    )
    return Workload("reads", "reads", (RequestClass("all", steps),), connections=64 + 8 * cpus, cpus=cpus, seed=3)


def window_under(cpus: int, pool_tuple: PoolTuple) -> tuple[Window, SimulatedServer]:
    server = SimulatedServer(workload_on(cpus), CALIBRATED, initial=pool_tuple)
    server.run_for(1.0)
    return observe(server, 1.5).window, server


@pytest.mark.parametrize("cpus", CPUS)
def test_five_trials_end_near_the_best_size(cpus: int) -> None:
    objective, bandit = Objective(), Advisor(Model.of(load_curves()), Purpose.TRIAL)
    first, server = window_under(cpus, PoolTuple(cpus, 3, 500))
    windows = [first]
    for _ in range(DECISIONS):
        named = bandit.predict(windows, server.knobs, objective).pool_tuple
        if named.core in {window.pool_tuple.core for window in windows}:
            break
        windows.append(window_under(cpus, named)[0])
    reached = max(objective.goodput_per_s(window) for window in windows)
    best = max(
        objective.goodput_per_s(window_under(cpus, PoolTuple(size, 3, timer))[0])
        for size in SIZES
        for timer in (10, 500)
    )
    assert reached >= 0.9 * best


@pytest.mark.parametrize("cpus", CPUS)
def test_one_look_advises_what_helps_or_names_the_trial(cpus: int) -> None:
    window, server = window_under(cpus, PoolTuple(cpus, 3, 500))
    prediction = Advisor(Model.of(load_curves())).predict([window], server.knobs, Objective())
    if prediction.abstained:
        assert "only trying" in prediction.reasons[-1]
        assert prediction.keeps
    else:
        assert prediction.gain_low is not None
        after, _ = window_under(cpus, prediction.pool_tuple)
        assert Objective().value(after) >= Objective().value(window) - 0.05
