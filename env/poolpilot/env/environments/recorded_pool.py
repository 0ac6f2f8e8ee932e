"""The environment of stored sweeps: every step replays a recorded window and costs a tenth of a millisecond."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.grid_env import GridEnv, whole_number
from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

REWARD_OF_INFEASIBLE = -1.0
"""A tuple that breaks the constraints is rewarded as if everything was lost."""


@dataclass(frozen=True)
class _Encoded:
    """A sweep with everything a step needs computed: windows, rewards, and the mask of the measured actions."""

    workload_id: str
    windows: Mapping[PoolTuple, tuple[EncodedWindow, ...]]
    rewards: Mapping[PoolTuple, float]
    regrets: Mapping[PoolTuple, float]
    oracle_value: float
    mask: NDArray[np.bool_]
    default_start: PoolTuple


class RecordedPoolEnv(GridEnv):
    """Each episode draws a sweep and replays it, resampling the repeats of each tuple.

    Only tuples of the grid that the sweep measured are allowed. The reward is minus the regret of the tuple's mean J,
    so the noise of the replayed window is in the observation alone.

    Args:
        sweeps: The stored sweeps; those that come with the package if None.
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        start: Episodes start under the default tuple (the nearest one measured) or under a random one.
        render_mode: None or "ansi".
        family: Family of the sweep that comes with the package; all training families if None.

    Raises:
        SettingError: There is no sweep, or one has no tuple of the grid; or both sweeps and a family are given.

    Examples:
        >>> import gymnasium
        >>> env = gymnasium.make("poolpilot.env.environments:poolpilot/RecordedPool-v0", family="page_faults")
        >>> observation, info = env.reset(seed=0)
        >>> info["workload"], info["pool_tuple"]["pool_size"], round(info["regret"], 2)
        ('page_faults-1-1', 2, 0.93)
    """

    OPTIONS: ClassVar[tuple[str, ...]] = ("start", "workload")

    def __init__(
        self,
        sweeps: Sequence[WorkloadSweep] | None = None,
        grid: ActionGrid = DEFAULT_GRID,
        horizon: int = 3,
        start: Literal["default", "random"] = "default",
        render_mode: str | None = None,
        family: str | None = None,
    ) -> None:
        super().__init__(grid, horizon, render_mode)
        sweeps = given_or_sampled(sweeps, family)
        if not sweeps:
            raise SettingError("the recorded pool needs at least one sweep; collect some first")
        if start not in ("default", "random"):
            raise SettingError(f"start {start!r} is unknown; choose 'default' or 'random'")
        self._sweeps = [_encode(sweep, grid) for sweep in sweeps]
        self._start = start
        self._sweep = self._sweeps[0]

    @property
    def workload(self) -> str:
        """Name of the workload whose sweep is replayed."""
        return self._sweep.workload_id

    @property
    def oracle_value(self) -> float:
        """Mean J of the best tuple of that sweep, of those that got furthest in the race."""
        return self._sweep.oracle_value

    def _regret(self) -> float:
        """Regret of the last tuple by its mean J, as the reward has it."""
        return self._sweep.regrets[self._tuples[-1]]

    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        """Draws a sweep; option "workload" takes the one at that position of the sweeps instead."""
        asked = options.get("workload", self.np_random.integers(len(self._sweeps)))
        drawn = whole_number(asked, "option 'workload'")
        if not 0 <= drawn < len(self._sweeps):
            raise SettingError(f"option 'workload' is {drawn}, outside 0..{len(self._sweeps) - 1}")
        self._sweep = self._sweeps[drawn]
        start = self._sweep.default_start
        if "start" in options:
            start = self._tuple_of(options["start"], self._sweep.mask)
        elif self._start == "random":
            start = self.grid.tuples[int(self.np_random.choice(np.flatnonzero(self._sweep.mask)))]
        return start, self._drawn(start), self._sweep.mask

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        return self._drawn(pool_tuple), self._sweep.rewards[pool_tuple]

    def _drawn(self, pool_tuple: PoolTuple) -> EncodedWindow:
        windows = self._sweep.windows[pool_tuple]
        return windows[int(self.np_random.integers(len(windows)))]


def _encode(sweep: WorkloadSweep, grid: ActionGrid) -> _Encoded:
    measured = [pool_tuple.core in sweep.entries for pool_tuple in grid.tuples]
    mask = grid.mask(sweep.limits) & np.array(measured)
    if not mask.any():
        raise SettingError(f"the sweep of workload {sweep.workload_id!r} has measured no configuration of the grid")
    default = sweep.limits.default_tuple()
    start = default if default.core in sweep.entries else grid.nearest(default, mask)
    known = {grid.tuples[index] for index in np.flatnonzero(mask)} | {start}
    entries = {pool_tuple: sweep.entries[pool_tuple.core] for pool_tuple in known}
    windows = {
        pool_tuple: tuple(encode_window(window, sweep.limits, sweep.objective) for window in entry.windows)
        for pool_tuple, entry in entries.items()
    }
    regrets = {pool_tuple: max(sweep.regret(pool_tuple), 0.0) for pool_tuple in entries}
    rewards = {
        pool_tuple: -regrets[pool_tuple] if entry.feasible else REWARD_OF_INFEASIBLE
        for pool_tuple, entry in entries.items()
    }
    return _Encoded(sweep.workload_id, windows, rewards, regrets, sweep.oracle_value, mask, start)


def given_or_sampled(sweeps: Sequence[WorkloadSweep] | None, family: str | None) -> Sequence[WorkloadSweep]:
    """The sweeps given or, without any, those that come with the package.

    Raises:
        SettingError: Both sweeps and a family are given, or no sweep of the family comes with the package.
    """
    if sweeps is None:
        return sample_sweeps(family)
    if family is not None:
        raise SettingError("give either sweeps or the family of those that come with the package, not both")
    return sweeps
