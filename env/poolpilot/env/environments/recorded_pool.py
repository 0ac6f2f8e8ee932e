"""The environment of stored sweeps: every step replays a recorded window and costs microseconds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.environments.ladder_env import LadderEnv
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
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
    mask: NDArray[np.bool_]
    default_start: PoolTuple


class RecordedPoolEnv(LadderEnv):
    """Each episode draws a sweep and replays it, resampling the repeats of each tuple.

    Only tuples of the ladder that the sweep measured are allowed. The reward is minus the regret of the tuple's mean J,
    so the noise of the replayed window is in the observation alone.

    Args:
        sweeps: The stored sweeps.
        ladder: The tuples to choose from.
        horizon: Decisions of an episode.
        start: Episodes start under the default tuple (the nearest one measured) or under a random one.
        render_mode: None or "ansi".

    Raises:
        SettingError: There is no sweep, or one has no tuple of the ladder.
    """

    def __init__(
        self,
        sweeps: Sequence[WorkloadSweep],
        ladder: Ladder = DEFAULT_LADDER,
        horizon: int = 3,
        start: Literal["default", "random"] = "default",
        render_mode: str | None = None,
    ) -> None:
        super().__init__(ladder, horizon, render_mode)
        if not sweeps:
            raise SettingError("the recorded pool needs at least one sweep; collect some first")
        if start not in ("default", "random"):
            raise SettingError(f"start {start!r} is unknown; choose 'default' or 'random'")
        self._sweeps = [_encode(sweep, ladder) for sweep in sweeps]
        self._start = start
        self._sweep = self._sweeps[0]

    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        """Draws a sweep; option "workload" takes the one at that position of the sweeps instead."""
        drawn = options.get("workload", self.np_random.integers(len(self._sweeps)))
        if not 0 <= int(drawn) < len(self._sweeps):
            raise SettingError(f"option 'workload' is {drawn}, outside 0..{len(self._sweeps) - 1}")
        self._sweep = self._sweeps[int(drawn)]
        start = self._sweep.default_start
        if "start" in options:
            start = self._tuple_of(options["start"], self._sweep.mask)
        elif self._start == "random":
            start = self.ladder.tuples[int(self.np_random.choice(np.flatnonzero(self._sweep.mask)))]
        return start, self._drawn(start), self._sweep.mask

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        return self._drawn(pool_tuple), self._sweep.rewards[pool_tuple]

    def _drawn(self, pool_tuple: PoolTuple) -> EncodedWindow:
        windows = self._sweep.windows[pool_tuple]
        return windows[int(self.np_random.integers(len(windows)))]


def _encode(sweep: WorkloadSweep, ladder: Ladder) -> _Encoded:
    measured = [one.core in sweep.entries for one in ladder.tuples]
    mask = ladder.mask(sweep.limits) & np.array(measured)
    if not mask.any():
        raise SettingError(f"the sweep of workload {sweep.workload_id!r} has measured no tuple of the ladder")
    default = sweep.limits.default_tuple()
    start = default if default.core in sweep.entries else ladder.nearest(default, mask)
    known = {ladder.tuples[index] for index in np.flatnonzero(mask)} | {start}
    entries = {one: sweep.entries[one.core] for one in known}
    windows = {
        one: tuple(encode_window(window, sweep.limits, sweep.objective) for window in entry.windows)
        for one, entry in entries.items()
    }
    rewards = {one: -sweep.regret(one) if entry.feasible else REWARD_OF_INFEASIBLE for one, entry in entries.items()}
    return _Encoded(sweep.workload_id, windows, rewards, mask, start)
