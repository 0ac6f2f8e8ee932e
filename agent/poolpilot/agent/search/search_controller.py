"""What all searches share: rounds over a space, an end, and the best tuple held."""

import math
from abc import abstractmethod
from collections.abc import Callable

from pydantic import Field

from poolpilot.agent.search.observations import Goal, Observations
from poolpilot.agent.search.round_controller import RoundController, RoundSettings
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

Restart = Callable[[PoolTuple], None]
"""Restarts the server so that it comes up with a tuple."""


class SearchSettings(RoundSettings):
    """What a search maximises and when it ends."""

    rounds: int | None = Field(default=200, ge=1, description="Trials; none is until the results are stable.")
    samples_per_round: int = Field(default=1, ge=1, description="Windows by which a configuration is evaluated.")
    stable_rounds: int = Field(
        default=20, ge=1, description="Without a number of rounds: the search ends after so many without improvement."
    )
    stable_share: float = Field(
        default=0.01, ge=0.0, description="Improvement of the best, as a share of its goodput or latency, that counts."
    )
    target: Goal = Field(default="objective", description="Maximise J or the throughput, or minimise the latency.")
    seed: int = Field(default=0, ge=0, description="Seed of every random draw.")


class SearchController(RoundController):
    """Tries tuples of a space and holds the best.

    Args:
        space: The knobs that vary.
        objective: What counts.
        settings: What is maximised and when it ends.
        restart: Restarts the server under a new tuple, where a knob that varies takes that.

    Raises:
        SettingError: A knob that varies takes a restart, and there is nothing that restarts the server.
    """

    least_rounds = 0
    """Rounds before which results do not count as stable."""

    def __init__(
        self, space: SearchSpace, objective: Objective, settings: SearchSettings, restart: Restart | None = None
    ) -> None:
        if space.restart_knobs and restart is None:
            raise SettingError(f"{space.restart_knobs[0]} needs a restart, which this search cannot do; leave it out")
        observations = Observations(objective, settings.target, space.contains)
        super().__init__(observations, settings.samples_per_round, settings.settle_windows)
        self.space = space
        self._limits = settings
        self._restart = restart
        self._record = -math.inf
        self._rounds_since_record = 0

    def best_so_far(self) -> PoolTuple | None:
        """The tuple that the search would hold if it ended now; None before one of the space was measured."""
        return self._best()

    def _note_record(self) -> None:
        best = self.observations.best
        if best is not None and best.value > self._record + math.log1p(self._limits.stable_share):
            self._record = best.value
            self._rounds_since_record = 0
        else:
            self._rounds_since_record += 1

    def _next(self, window: Window) -> PoolTuple | None:  # noqa: ARG002
        if self.rounds_done:
            self._note_record()
        if self._is_over():
            return None
        number = f"{self.rounds_done + 1}" + ("" if self._limits.rounds is None else f" of {self._limits.rounds}")
        pool_tuple, why = self._choose()
        self.reason = f"round {number}: {pool_tuple} {why}"
        return pool_tuple

    def _is_over(self) -> bool:
        if self._limits.rounds is not None:
            return self.rounds_done >= self._limits.rounds
        return self.rounds_done >= self.least_rounds and self._rounds_since_record >= self._limits.stable_rounds

    def _final(self, window: Window) -> PoolTuple:
        best = self._best()
        if best is None:
            self.reason = "none of the configurations asked for was ever in force; the one that is stays"
            return window.pool_tuple
        self.reason = (
            f"{best} is the best of {len(self.observations)} configurations measured in {self.rounds_done} rounds"
        )
        return best

    def _best(self) -> PoolTuple | None:
        """The tuple to hold; None where none of the space was measured."""
        best = self.observations.best
        return None if best is None else best.pool_tuple

    def _placed(self, wanted: PoolTuple, in_force: PoolTuple) -> PoolTuple:
        placed = self.space.with_held(wanted, in_force)
        if self._restart is not None and self.space.needs_restart(in_force, placed):
            self._restart(placed)
        return placed

    @abstractmethod
    def _choose(self) -> tuple[PoolTuple, str]:
        """Tuple of the next round, and why, as the rest of a sentence."""
