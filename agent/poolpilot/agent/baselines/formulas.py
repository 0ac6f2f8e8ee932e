"""The closed formulas every DBA knows, as baselines: N * (1 + W/S), and Little's law.

Brian Goetz and others, *Java Concurrency in Practice*, Addison-Wesley 2006, section 8.2; J. D. C. Little, "A Proof for
the Queuing Formula: L = lambda W", Operations Research 9, 1961 (docs/references.md).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from poolpilot.agent.baselines.choice import advise
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction


class SizeFormula(ABC):
    """Sizes the pool by a formula, keeps the default of every other knob and snaps to the grid.

    Args:
        grid: The grid to snap to, nearest in logarithms.
    """

    name: str
    text: str

    def __init__(self, grid: ActionGrid = DEFAULT_GRID) -> None:
        self.grid = grid

    @abstractmethod
    def size(self, window: Window, limits: KnobSpace) -> float | None:
        """Pool size by the formula, not rounded; None when the window lacks a number it needs."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """Names a tuple; see `Predictor.predict`."""
        size = self.size(windows[-1], limits) if windows else None
        default = limits.default_tuple()
        if size is None:
            return advise(windows, default.core, f"{self.text} needs what this server does not measure", self.name)
        knob = limits.knobs["pool_size"]
        whole = int(min(max(round(size), knob.low), knob.high))
        wanted = default.with_core((whole, default.oversubscribe, default.timer_interval_ms))
        nearest = self.grid.nearest(wanted, self.grid.mask(limits))
        return advise(windows, nearest.core, f"{self.text} = {size:.1f}", self.name)


class WaitRatioFormula(SizeFormula):
    """N * (1 + W/S): threads that keep N processors busy when each waits W for every S of processor time."""

    name = "wait_ratio"
    text = "CPUs * (1 + wait / service)"

    def size(self, window: Window, limits: KnobSpace) -> float | None:
        """CPUs times one plus the measured waiting per CPU time."""
        ratio = window.profile.features["wait_to_cpu"]
        return None if ratio is None else limits.cpus * (1.0 + ratio)


class LittleFormula(SizeFormula):
    """Little's law, L = X * R: as many groups as requests are being worked on, queue wait apart."""

    name = "little"
    text = "throughput * time a request is worked on"

    def size(self, window: Window, limits: KnobSpace) -> float | None:  # noqa: ARG002
        """Requests in the system less those that queue."""
        in_system = window.profile.features["in_system"]
        queue_share = window.profile.features["queue_share"]
        # Those that queue are left out: with them a pool that is too small would be told to stay as it is.
        return None if in_system is None or queue_share is None else in_system * (1.0 - queue_share)
