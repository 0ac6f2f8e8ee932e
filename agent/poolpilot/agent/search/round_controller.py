"""A controller that works in rounds: one tuple for a few windows, then the next, then it holds one."""

from abc import abstractmethod

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.search.observations import Observations
from poolpilot.env.controller import Controller, Trial
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


class RoundSettings(BaseModel):
    """How long a tuple is measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settle_windows: int = Field(
        default=0,
        ge=0,
        description="Windows after a change of the configuration that are not counted, on top of those that are.",
    )


class RoundController(Controller):
    """Counts windows into rounds and keeps what they showed.

    A round ends after its windows, whatever tuples they were measured under: what somebody else sets is measured too,
    and never stops the search.

    Args:
        observations: What has been measured.
        samples: Windows judged in a round.
        settle_windows: Windows before them that are not.
    """

    def __init__(self, observations: Observations, samples: int, settle_windows: int) -> None:
        self.observations = observations
        self.rounds_done = 0
        self._samples = samples
        self._settle_windows = settle_windows
        self._wanted: PoolTuple | None = None
        self._asked: PoolTuple | None = None
        self._windows = 0

    def suggest(self) -> Trial:
        """The tuple of the round; the one to hold when the rounds are over."""
        return Trial(self._asked)

    def observe(self, window: Window) -> None:
        """Takes a window of the round.

        Raises:
            SettingError: The target is latency and the server does not tell it.
        """
        in_force = window.pool_tuple
        foreign = self._asked is not None and in_force != self._asked
        self._windows += 1
        if foreign or self._wanted is None or self.finished or self._windows > self._settle_windows:
            self.observations.add(window)
        wanted = self._wanted
        if wanted is None or (not self.finished and self._windows >= self._settle_windows + self._samples):
            wanted = self._advance(window)
        elif foreign:
            self.reason = f"somebody else set {in_force}, which was measured; {wanted} is set again"
        self._asked = self._placed(wanted, in_force)

    def _advance(self, window: Window) -> PoolTuple:
        if self._wanted is not None:
            self.rounds_done += 1
        self._windows = 0
        wanted = self._next(window)
        if wanted is None:
            self.finished = True
            wanted = self._final(window)
        self._wanted = wanted
        return wanted

    @abstractmethod
    def _next(self, window: Window) -> PoolTuple | None:
        """Tuple of the next round, after saying why in `reason`; None when the rounds are over."""

    @abstractmethod
    def _final(self, window: Window) -> PoolTuple:
        """The tuple to hold, after saying why in `reason`."""

    @abstractmethod
    def _placed(self, wanted: PoolTuple, in_force: PoolTuple) -> PoolTuple:
        """A tuple with the knobs of the one in force that are not varied."""
