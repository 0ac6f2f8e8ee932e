"""The environment on a server rewards rightly and gives every server back."""

import gymnasium
import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments import PoolEnv
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot

FREE = Objective(price_of_thread=0.0)


class CountingServer(CurveServer):
    """A curve that counts what was opened and closed, and can be told to fail."""

    opened = 0
    closed = 0

    def __init__(self, *, failing: bool = False) -> None:
        super().__init__(((1, 100.0), (4, 400.0), (16, 900.0), (64, 300.0)))
        self._failing = failing
        type(self).opened += 1

    def snapshot(self) -> Snapshot:
        if self._failing:
            raise ServerError("told to fail")
        return super().snapshot()

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture(autouse=True)
def _counts_at_zero() -> None:
    CountingServer.opened = CountingServer.closed = 0


def action(size: int) -> np.int64:
    return np.int64(DEFAULT_GRID.index_of(PoolTuple(size, 3, 500)))


def test_reward_is_minus_regret_where_the_oracle_is_known() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(), FREE, oracle_value=float(np.log(900.0))))
    env.reset(seed=0)
    assert env.step(action(16))[1] == pytest.approx(0.0, abs=0.01)
    assert env.step(action(64))[1] == pytest.approx(-2.0 / 3.0, abs=0.01)
    env.close()


def test_reward_is_the_change_where_it_is_not() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(), FREE))
    env.reset(seed=0)
    assert env.step(action(16))[1] == pytest.approx(np.log(900.0 / 400.0), abs=0.01)
    assert env.step(action(64))[1] == pytest.approx(np.log(300.0 / 900.0), abs=0.01)
    env.close()


def test_every_server_opened_is_closed_once() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(), FREE), horizon=1)
    for seed in range(3):
        env.reset(seed=seed)
        env.step(action(16))
    assert (CountingServer.opened, CountingServer.closed) == (3, 2)
    env.close()
    env.close()
    assert CountingServer.closed == 3


def test_server_that_fails_in_reset_is_closed() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(failing=True), FREE))
    with pytest.raises(ServerError, match="told to fail"):
        env.reset(seed=0)
    assert (CountingServer.opened, CountingServer.closed) == (1, 1)


def test_server_that_allows_nothing_of_the_grid_is_closed() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(), FREE), grid=ActionGrid((1000,), (3,), (500,)))
    with pytest.raises(SettingError, match="no configuration of the grid"):
        env.reset(seed=0)
    assert CountingServer.closed == 1


def test_closed_environment_wants_a_reset() -> None:
    env = PoolEnv(lambda _: Target(CountingServer(), FREE))
    env.reset(seed=0)
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action(16))


@pytest.mark.parametrize("options", [None, {"start": action(4)}])
def test_action_sets_the_core_and_leaves_the_rest_as_it_is(options: dict[str, np.int64] | None) -> None:
    """Surplus threads that outlive their tuple would be measured with the next one (docs/decisions.md, 5)."""
    short = PoolTuple(2, 3, 500, idle_timeout_s=1.0)
    env = PoolEnv(lambda _: Target(CurveServer(((1, 100.0), (64, 300.0)), initial=short), FREE))
    _, info = env.reset(seed=0, options=options)
    assert info["pool_tuple"]["idle_timeout_s"] == 1.0
    _, _, _, _, info = env.step(action(16))
    assert info["pool_tuple"] == short.with_core((16, 3, 500)).as_dict()
    env.close()
