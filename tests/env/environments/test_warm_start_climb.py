"""A warm start is rewarded by what the climb from it loses."""

from collections.abc import Callable

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import poolpilot.env.registration  # noqa: F401 - registers the environments
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.controller import Controller
from poolpilot.env.environments import OpenTarget, WarmStartClimbEnv, recorded_targets
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

MakeSweep = Callable[..., WorkloadSweep]


class Doubling:
    """Doubles the size up to sixteen."""

    period_s = 0.0

    def update(
        self,
        throughput: float,
        connections: float,
        latency_s: float,
        size: int,
        duration_s: float,
        in_system: float | None = None,
        completed_per_s: float | None = None,
    ) -> int:
        known = min(in_system or 0.0, completed_per_s or 0.0) >= 0.0
        return min(2 * size, 16) if known and min(throughput, connections, latency_s, duration_s) > 0.0 else size


def doubling(pool_tuple: PoolTuple, target: Target) -> Controller:
    return ClimbController(Doubling(), pool_tuple, target.objective)


def action(size: int) -> np.int64:
    return np.int64(DEFAULT_GRID.index_of(PoolTuple(size, 3, 500)))


@pytest.fixture
def targets(make_sweep: MakeSweep) -> OpenTarget:
    return recorded_targets([make_sweep()])


def test_registered_id_passes_gymnasiums_checker_on_recorded_sweeps(make_sweep: MakeSweep) -> None:
    env = gymnasium.make(
        "poolpilot/WarmStartClimb-v0",
        open_target=recorded_targets([make_sweep(noise=0.05)]),
        open_controller=doubling,
        climb_s=2.0,
    )
    check_env(env.unwrapped)


def test_start_at_the_optimum_loses_least_and_one_decision_ends_the_episode(targets: OpenTarget) -> None:
    env = WarmStartClimbEnv(targets, doubling, period_s=1.0, climb_s=10.0)
    rewards = {}
    for size in (1, 4, 16):
        env.reset(seed=0)
        _, rewards[size], terminated, _, info = env.step(action(size))
        assert terminated
        assert info["pool_tuple"]["pool_size"] == size
    assert rewards[1] < rewards[4] < rewards[16]
    assert rewards[16] == pytest.approx(0.0, abs=0.01)


def test_trace_holds_the_whole_climb(targets: OpenTarget) -> None:
    env = WarmStartClimbEnv(targets, doubling, period_s=1.0, climb_s=5.0)
    env.reset(seed=0)
    env.step(action(2))
    assert env.trace is not None
    assert [step.pool_tuple.pool_size for step in env.trace.steps] == [2, 4, 8, 16, 16]
    env.reset(seed=1)
    assert env.trace is None


def test_replay_of_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one sweep"):
        recorded_targets([])


def test_without_an_oracle_the_best_window_stands_in(targets: OpenTarget) -> None:
    def unlabelled(rng: np.random.Generator) -> Target:
        known = targets(rng)
        return Target(known.server, known.objective)

    env = WarmStartClimbEnv(unlabelled, doubling, period_s=1.0, climb_s=5.0)
    env.reset(seed=0)
    reward = env.step(action(2))[1]
    assert env.trace is not None
    assert reward == pytest.approx(-env.trace.mean_regret(env.trace.best_value))
    assert reward < -0.2


@pytest.mark.parametrize(("period_s", "windows"), [(0.1, 50), (0.5, 10), (1.0, 5)])
def test_the_climber_without_a_name_looks_as_long_as_told(period_s: float, windows: int) -> None:
    env = WarmStartClimbEnv(family="page_faults", period_s=period_s, climb_s=5.0)
    env.reset(seed=0)
    env.step(action(16))
    assert env.trace is not None
    assert len(env.trace.steps) == windows


def test_climb_without_a_window_is_refused(targets: OpenTarget) -> None:
    class Patient(Doubling):
        period_s = 9.0

    def patient(pool_tuple: PoolTuple, target: Target) -> Controller:
        return ClimbController(Patient(), pool_tuple, target.objective)

    env = WarmStartClimbEnv(targets, patient, period_s=0.5, climb_s=1.0)
    env.reset(seed=0)
    with pytest.raises(SettingError, match=r"no window within climb_s \(1\.0\)"):
        env.step(action(16))


def test_horizon_is_refused(targets: OpenTarget) -> None:
    with pytest.raises(SettingError, match="the horizon is 5, but an episode is one decision here"):
        WarmStartClimbEnv(targets, doubling, horizon=5)


def test_climb_shorter_than_a_window_is_refused(targets: OpenTarget) -> None:
    with pytest.raises(SettingError, match="period_s is 2"):
        WarmStartClimbEnv(targets, doubling, period_s=2.0, climb_s=1.0)
    with pytest.raises(SettingError, match=r"period_s is 0\.0, but must be in 0\.001"):
        WarmStartClimbEnv(targets, period_s=0.0)
