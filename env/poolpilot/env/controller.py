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
            SettingError: No tuple is allowed, or the window lacks what the controller goes by.
        """

    def recommend(self) -> PoolTuple | None:
        """The tuple to leave in force where no further window follows; None is the one that is."""
        return self.suggest().pool_tuple
