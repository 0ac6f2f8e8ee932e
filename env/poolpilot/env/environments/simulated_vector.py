"""A vector of simulated pools: one call steps them all, on all processors, outside the interpreter."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.environments.simulated_pool import SimulatedPoolEnv
from poolpilot.env.observation import Observation
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


class SimulatedOptions(TypedDict, total=False):
    """Arguments of `SimulatedPoolEnv` that its vector hands on."""

    grid: ActionGrid
    horizon: int
    family: str | None
    seed: int


class SimulatedPoolVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """The same episodes as so many `SimulatedPoolEnv`, measured together.

    An episode that has ended begins anew in the next step, whose action is ignored and whose reward is 0
    (`AutoresetMode.NEXT_STEP`).

    Args:
        num_envs: Environments.
        scenarios: The scenarios to draw from; workloads of the families if None.
        settings: How long a tuple is simulated.
        threads: Threads to run on; as many as this process may use processors if None.
        **options: Further arguments of `SimulatedPoolEnv`: grid, horizon, family, seed.

    Raises:
        SettingError: There is no environment or no scenario.

    Examples:
        >>> envs = SimulatedPoolVectorEnv(4, family="page_faults", horizon=1)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminations, truncations, infos = envs.step(np.array([0, 8, 16, 26]))
        >>> infos["pool_tuple"]["pool_size"].tolist(), terminations.tolist(), envs.action_masks().shape
        ([1, 4, 16, 64], [True, True, True, True], (4, 28))
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - gymnasium declares it so

    def __init__(
        self,
        num_envs: int,
        scenarios: Sequence[Scenario] | None = None,
        settings: SimulatedMeasurement | None = None,
        threads: int | None = None,
        **options: Unpack[SimulatedOptions],
    ) -> None:
        self._envs: list[SimulatedPoolEnv] = []  # first of all: gymnasium closes what could not be made, too
        if num_envs < 1:
            raise SettingError(f"num_envs is {num_envs}; a vector needs at least 1 environment")
        self._settings = settings or SimulatedMeasurement()
        self._threads = threads
        self._envs = [SimulatedPoolEnv(scenarios, self._settings, **options) for _ in range(num_envs)]
        self._observations: list[Observation] = [{} for _ in self._envs]
        self._infos: list[dict[str, Any]] = [{} for _ in self._envs]
        self._ended: NDArray[np.bool_] = np.zeros(num_envs, dtype=np.bool_)
        self.num_envs = num_envs
        self.single_observation_space = self._envs[0].observation_space
        self.single_action_space = self._envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode in every environment; with one seed the environments take it and those that follow.

        Raises:
            SettingError: There is another number of seeds than of environments, or the options are refused.
        """
        if seed is None or isinstance(seed, int | np.integer):
            seeds: list[int | None] = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            self._check_shape("seeds", seed, "give one number for all, or one for each environment")
            seeds = list(seed)
        self._ended[:] = False
        for env in self._envs:
            env.close()
            env.check_options(options)
        starts = [env.prepare_reset(options or {}, seed) for env, seed in zip(self._envs, seeds, strict=True)]
        self._finish_resets(range(self.num_envs), self._measured(range(self.num_envs), starts))
        return self._stacked()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Sets the tuples of the actions and measures them all at once.

        Raises:
            SettingError: The mask of an environment forbids its action, or there is not one for each environment.
            gymnasium.error.ResetNeeded: No episode has begun.
        """
        self._check_shape("actions", actions, "give one for each environment")
        beginning = [int(i) for i in np.flatnonzero(self._ended)]
        going_on = [int(i) for i in np.flatnonzero(~self._ended)]
        following = [self._envs[i].prepare_step(actions[i]) for i in going_on]
        starts = [self._envs[i].prepare_reset({}) for i in beginning]
        windows = self._measured([*going_on, *beginning], [*following, *starts])
        rewards = np.zeros(self.num_envs)
        for i, window in zip(going_on, windows[: len(going_on)], strict=True):
            self._observations[i], rewards[i], self._ended[i], _, self._infos[i] = self._envs[i].finish_step(window)
        self._finish_resets(beginning, windows[len(going_on) :])
        ended = self._ended.copy()
        observation, infos = self._stacked()
        return observation, rewards, ended, np.zeros_like(ended), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions each environment allows, shape (num_envs, len(grid))."""
        return np.stack([env.action_masks() for env in self._envs])

    def close_extras(self, **_: Any) -> None:
        """Forgets the servers."""
        for env in self._envs:
            env.close()

    def _check_shape(self, what: str, values: object, remedy: str) -> None:
        """Refuses values that are not one for each environment.

        Raises:
            SettingError: They have another shape.
        """
        shape = np.asarray(values, dtype=object).shape  # as objects: numpy itself raises on ragged lists
        if shape != (self.num_envs,):
            raise SettingError(
                f"the {what} have the shape {shape}, but must have (num_envs,), here ({self.num_envs},): {remedy}"
            )

    def _measured(self, places: Iterable[int], tuples: Sequence[PoolTuple]) -> list[Window]:
        return measure_all([self._envs[i].server for i in places], tuples, self._settings, self._threads)

    def _finish_resets(self, places: Iterable[int], windows: Sequence[Window]) -> None:
        for i, window in zip(places, windows, strict=True):
            self._observations[i], self._infos[i] = self._envs[i].finish_reset(window)
            self._ended[i] = False

    def _stacked(self) -> tuple[Observation, dict[str, Any]]:
        names = self._observations[0].keys()
        observation = {name: np.stack([observation[name] for observation in self._observations]) for name in names}
        infos: dict[str, Any] = {}
        for i, info in enumerate(self._infos):
            infos = self._add_info(infos, info, i)
        return observation, infos
