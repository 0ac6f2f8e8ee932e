"""What a controller is, in the field's words ask and tell: it suggests a trial and observes what came of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


@dataclass(frozen=True, slots=True)
class Trial:
    """What a controller wants to see next.

    Attributes:
        pool_tuple: Tuple to measure; None is the one in force.
        window_s: Seconds of the window; None leaves that to the loop.
    """

    pool_tuple: PoolTuple | None = None
    window_s: float | None = None


class Controller(ABC):
    """Chooses the tuples of a server by what their windows show: a climber, a search, a predictor.

    `suggest` and `observe` take turns. A window may be of another tuple than the one suggested, where somebody else has
    set it.

    Examples:
        A controller that doubles the pool size for as long as that brings a tenth:

        >>> from poolpilot.env import CurveServer, Objective, tune
        >>> class Doubling(Controller):
        ...     best, size = 0.0, 1
        ...     def suggest(self):
        ...         return Trial(PoolTuple(self.size, 3, 500))
        ...     def observe(self, window):
        ...         if window.throughput_per_s > 1.1 * self.best:
        ...             self.best, self.size = window.throughput_per_s, 2 * window.pool_tuple.pool_size
        >>> server = CurveServer([(1, 100), (16, 1200), (64, 1250)])
        >>> trace = tune(server, Doubling(), Objective(), horizon_s=2.0)
        >>> trace.final_tuple.pool_size
        32
    """

    reason = "nothing has been measured yet"
    """Why the latest trial was suggested, as a sentence."""

    finished = False
    """Whether there is nothing more to find out, so that every further trial is the tuple to hold."""

    @abstractmethod
    def suggest(self) -> Trial:
        """The next trial; without a window in between it is the same again."""

    @abstractmethod
    def observe(self, window: Window) -> None:
        """Takes the window that followed.

        Raises:
            SettingError: No tuple is allowed, or the window lacks what the controller uses.
        """

    def recommend(self) -> PoolTuple | None:
        """The tuple to leave in force where no further window follows; None is the one that is."""
        return self.suggest().pool_tuple
