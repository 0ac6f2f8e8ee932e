"""What all environments share: the spaces of observation and action, the mask, the horizon, the rendering."""

import operator
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, SupportsIndex

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.objective import regret
from poolpilot.env.observation import BOUND, EncodedWindow, Observation, assemble, observation_shapes
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

UNIT_INTERVAL = ("feature_mask", "within_target", "present", "action_mask")
"""Arrays of an observation that stay in 0..1."""


def observation_space(grid: ActionGrid) -> spaces.Dict:
    """Space of the observations of `observation.assemble`: a float32 box for every array."""
    boxes: dict[str, spaces.Space[Any]] = {
        name: spaces.Box(0.0 if name in UNIT_INTERVAL else -BOUND, 1.0 if name in UNIT_INTERVAL else BOUND, shape)
        for name, shape in observation_shapes(grid).items()
    }
    return spaces.Dict(boxes)


def whole_number(value: SupportsIndex, name: str) -> int:
    """A value as an int.

    Raises:
        SettingError: It is no whole number.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise SettingError(f"{name} is {value!r}, but must be a whole number") from None


class GridEnv(gymnasium.Env[Observation, np.int64]):
    """An episode: a first window, then `horizon` choices from the grid, each answered by a window.

    An action is an index into `grid.tuples`; `action_mask`, in the observation (float32) and in the info (int8, as
    `action_space.sample(mask)` wants it), says which the server allows. Episodes terminate after `horizon` decisions.

    The info of `reset` and `step` has the same keys in every environment: `workload` (its name), `pool_tuple` (that
    of the last window, by knob), `objective` (J of that window), `goodput_per_s`, `regret` (share of the oracle's worth
    that is lost), `oracle` (greatest J there is) and `action_mask`. `regret` and `oracle` are None where nobody knows
    the best tuple.

    Args:
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None, or "ansi": `render` returns the response set as a table.

    Raises:
        SettingError: The horizon or the render mode is not one of those allowed.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - gymnasium declares it so

    OPTIONS: ClassVar[tuple[str, ...]] = ("start",)
    """Names of the options of `reset`."""

    def __init__(self, grid: ActionGrid = DEFAULT_GRID, horizon: int = 3, render_mode: str | None = None) -> None:
        if whole_number(horizon, "the horizon") < 1:
            raise SettingError(f"the horizon is {horizon}; an episode needs at least 1 decision")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SettingError(f"render_mode {render_mode!r} is unknown; choose None or 'ansi'")
        self.grid = grid
        self.horizon = horizon
        self.render_mode = render_mode
        self.observation_space = observation_space(grid)
        self.action_space = spaces.Discrete(len(grid))
        self._entries: list[EncodedWindow] = []
        self._tuples: list[PoolTuple] = []
        self._mask: NDArray[np.bool_] = np.ones(len(grid), dtype=np.bool_)
        self._mask_seen: NDArray[np.float32] = self._mask.astype(np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode: the first window is that of the starting tuple.

        Args:
            seed: Seed of the episode and those that follow.
            options: "start" is an action whose tuple to start from.

        Raises:
            SettingError: An option is unknown or outside its range.
        """
        super().reset(seed=seed)
        self._entries, self._tuples = [], []
        self.check_options(options)
        return self._begun(*self._begin(options or {}))

    def check_options(self, options: Mapping[str, Any] | None) -> None:
        """Refuses options that `reset` does not know.

        Raises:
            SettingError: There is one; the text names it and those there are.
        """
        if options is not None and not isinstance(options, Mapping):
            raise SettingError(f"the options of reset are {options!r}, but must be a dict of {', '.join(self.OPTIONS)}")
        for name in options or {}:
            if name not in self.OPTIONS:
                raise SettingError(f"reset knows no option {name!r}; there are {', '.join(self.OPTIONS)}")

    def _begun(
        self, start: PoolTuple, first: EncodedWindow, mask: NDArray[np.bool_]
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins the episode with its first window."""
        self._mask, self._mask_seen = mask, mask.astype(np.float32)
        self._entries, self._tuples = [first], [start]
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets the tuple of an action and measures it.

        Raises:
            SettingError: The mask forbids the action.
            gymnasium.error.ResetNeeded: The episode has ended or not begun.
        """
        pool_tuple = self._asked(action)
        entry, reward = self._choose(pool_tuple)
        return self._answered(pool_tuple, entry, reward)

    def _asked(self, action: SupportsIndex) -> PoolTuple:
        """The tuple of an action, if the episode goes on and the mask allows it."""
        if not self._entries or len(self._entries) > self.horizon:
            raise gymnasium.error.ResetNeeded("the episode has ended or not begun: call reset() first")
        return self._tuple_of(action, self._mask)

    def _answered(
        self, pool_tuple: PoolTuple, entry: EncodedWindow, reward: float
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Takes the response to a tuple into the episode."""
        self._entries.append(entry)
        self._tuples.append(pool_tuple)
        return self._observation(), reward, len(self._entries) > self.horizon, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are allowed, shape (len(grid),): what sb3-contrib's MaskablePPO asks for."""
        return self._mask.copy()

    def render(self) -> str | None:  # type: ignore[override]
        """The response set as a table in "ansi" mode, else None."""
        if self.render_mode != "ansi":
            return None
        first = self._entries[0].value if self._entries else 0.0
        rows = [f"{'configuration':>14} {'J':>8} {'change':>8}"]
        for pool_tuple, entry in zip(self._tuples, self._entries, strict=True):
            rows.append(f"{pool_tuple!s:>14} {entry.value:8.3f} {entry.value - first:+8.3f}")
        return "\n".join(rows)

    @abstractmethod
    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        """Picks a problem; returns the starting tuple, its window and the mask of the actions."""

    @abstractmethod
    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        """Sets a tuple; returns its window and the reward."""

    @property
    @abstractmethod
    def workload(self) -> str:
        """Name of the episode's workload; empty before there is one."""

    @property
    @abstractmethod
    def oracle_value(self) -> float | None:
        """Greatest J there is on that workload; None where it is not known."""

    def _regret(self) -> float | None:
        """Regret of the last window."""
        oracle_value = self.oracle_value
        return None if oracle_value is None else regret(self._entries[-1].value, oracle_value)

    def _tuple_of(self, asked: SupportsIndex, mask: NDArray[np.bool_]) -> PoolTuple:
        action = whole_number(asked, "the action")
        if not 0 <= action < len(self.grid):
            raise SettingError(f"action {action} is outside 0..{len(self.grid) - 1}")
        if not mask[action]:
            allowed = ", ".join(str(action) for action in np.flatnonzero(mask))
            raise SettingError(f"action {action} {self.grid.tuples[action]} is masked here; allowed are {allowed}")
        return self.grid.tuples[action]

    def _observation(self) -> Observation:
        return assemble(self._entries, self._mask_seen)

    def _info(self) -> dict[str, Any]:
        entry = self._entries[-1]
        return {
            "workload": self.workload,
            "pool_tuple": self._tuples[-1].as_dict(),
            "objective": entry.value,
            "goodput_per_s": entry.goodput_per_s,
            "regret": self._regret(),
            "oracle": self.oracle_value,
            "action_mask": self._mask.astype(np.int8),
        }
