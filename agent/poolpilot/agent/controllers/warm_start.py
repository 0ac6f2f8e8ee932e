"""The warm start: what a predictor names is tried and measured, then a climb takes over at the best of it.

A cold climb begins with its first observation alone where something has a floor: a share of what one short sample
happened to hold is none, and a class that it does not show would have no floor at all.

Where nothing tried was better, the climb waits until the initial configuration does again about what it did: requests
that a poor trial has left behind tell nothing of sizes, and trials may have led the pool into a poorer state, such as
a latch that has collapsed, in which a climb follows noise alone.
"""

import math
from collections.abc import Callable
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.trial_controller import LONG_ENOUGH, TrialController
from poolpilot.agent.controllers.trial_rule import MOST_DECISIONS
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import SIZE_ALONE, KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.server import AnyServer, WindowSource
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.server.mariadb_server import knobs_to_try
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.native_pool import SpectralSettings

POORER = math.log(2.0)
"""Fall of J of the initial configuration below which the pool is not what it was before the trials."""

MOST_RETURNS = 10
"""Windows in which the initial configuration may do again what it did; after them the load has changed."""

OpenClimb = Callable[[PoolTuple, bool, Window | None], Controller]
"""Makes what takes over at a tuple; the flag says whether it starts as if it had arrived (warm), the window what floors
are shares of, where something was measured."""


class WarmStartSettings(BaseModel):
    """How often a predictor may decide, and how long each of its tuples is measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int = Field(default=5, ge=1, le=MOST_DECISIONS, description="Candidates tried at most.")
    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(settle_s=0.1, window_s=0.4),
        description="What a trial drops, and how long it lasts.",
    )

    def observing(self, least_s: float) -> Self:
        """The same with windows of at least so long."""
        window_s = max(self.measurement.window_s, least_s)
        return self.model_copy(update={"measurement": self.measurement.model_copy(update={"window_s": window_s})})


MARIADB_WARM_START = WarmStartSettings(measurement=MeasurementSettings(settle_s=0.4, window_s=2.0))
"""For MariaDB, which settles and counts more slowly than the embedded pool: five tuples in a quarter of a minute."""

MARIADB_CLIMB = ClimbSettings(period_s=0.5)
"""For MariaDB, which answers a change within half a second."""


class WarmStart(Controller):
    """Tries what a predictor names, then climbs from the best of it: cold if the predictor abstained.

    Args:
        predictor: What is asked; None observes the tuple in force, for as long as its floors need, and tries nothing.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        open_climb: Makes what takes over at the tuple chosen.
        settings: How it tries.
    """

    def __init__(
        self,
        predictor: Predictor | None,
        knobs: KnobSpace,
        objective: Objective,
        open_climb: OpenClimb,
        settings: WarmStartSettings | None = None,
    ) -> None:
        self.climb: Controller | None = None
        """What has taken over; None while the predictor still tries."""
        wanted = settings or WarmStartSettings()
        self._returns = 0
        self._back = list[Window]()
        self._objective = objective
        self._measurement = wanted.measurement
        self._trials = TrialController(predictor, knobs, objective, wanted.decisions, wanted.measurement)
        self._open_climb = open_climb

    @property
    def predictions(self) -> list[Prediction]:
        """What the predictor said, in order."""
        return self._trials.predictions

    @property
    def tried(self) -> list[Window]:
        """The windows that counted: the initial configuration's, then one for each trial."""
        return self._trials.windows

    def suggest(self) -> Trial:
        """The next trial, or what the climb wants."""
        if self.climb is None and self._trials.finished:
            return Trial(self.tried[0].pool_tuple)  # of any length: it must come back, however little time is left
        return self._doing.suggest()

    def observe(self, window: Window) -> None:
        """Takes the window of a trial, or hands it to the climb.

        Raises:
            SettingError: The server's limits allow no tuple.
        """
        if self.climb is None and self._trials.finished:
            self._returned(window)
            return
        self._doing.observe(window)
        self.reason = self._doing.reason
        if self.climb is None and self._trials.finished and not self._comes_back:
            self._begin_climb()

    def recommend(self) -> PoolTuple | None:
        """What the climb recommends; before that the best tuple tried."""
        return self._doing.recommend()

    @property
    def _comes_back(self) -> bool:
        """Whether trials have ended where they began, so that the initial configuration comes back into force."""
        best = self._trials.recommend()
        return len(self.tried) > 1 and best is not None and best.core == self.tried[0].pool_tuple.core

    @property
    def returning(self) -> bool:
        """Whether the initial configuration is back and no climb has begun, so that later windows tell of it."""
        return bool(self._returns or self._back) and self.climb is None

    def _returned(self, window: Window) -> None:
        """Takes a window of the initial configuration; a disturbed one, or one of another, tells nothing."""
        if window.pool_tuple.core != self.tried[0].pool_tuple.core:
            return
        if disturbed := disturbances_of([window]):
            self.reason = disturbed[0]
            return
        self._back.append(window)
        wanted_s = self._measurement.window_for(window.pool_tuple)
        if sum(each.duration_s for each in self._back) < LONG_ENOUGH * wanted_s:
            if not self._returns:
                self.reason = f"{window.pool_tuple} is back: what it brings is measured once more"
            return
        fall = self._objective.value(self.tried[0]) - self._objective.value(Window.pooled(self._back))
        self._returns, self._back = self._returns + 1, []
        if fall <= POORER or self._returns >= MOST_RETURNS:
            self._begin_climb()
            return
        lost = f"{100.0 * -math.expm1(-fall):.0f} % less than before the trials"
        self.reason = f"{window.pool_tuple} is back and brings {lost}: nothing is changed while the pool is so"

    def _begin_climb(self) -> None:
        best = self._trials.recommend()
        assert best is not None
        warm = bool(self.predictions) and not self.predictions[-1].abstained
        self.climb = self._open_climb(best, warm, self.tried[0])
        self.reason = self.climb.reason

    @property
    def _doing(self) -> Controller:
        return self.climb or self._trials


def size_climb(settings: ClimbSettings | SpectralSettings, knobs: KnobSpace, objective: Objective) -> OpenClimb:
    """What takes over is the spectral climber of the pool size.

    Args:
        settings: How it climbs.
        knobs: The knobs of the server and their ranges.
        objective: What it climbs on.
    """

    def open_climb(start: PoolTuple, warm: bool, first: Window | None) -> Controller:
        return ClimbController(spectral_climber(settings, knobs, start.pool_size, warm=warm), start, objective, first)

    return open_climb


def period_of(settings: ClimbSettings | SpectralSettings) -> float:
    """Seconds of the shortest window of a climb."""
    return settings.period_s if isinstance(settings, ClimbSettings) else settings.hcm_min_period


def climb_controller(
    settings: ClimbSettings | SpectralSettings,
    server: AnyServer,
    objective: Objective,
    names: tuple[str, ...] = SIZE_ALONE,
    predictor: Predictor | None = None,
    warm_start: WarmStartSettings | None = None,
) -> Controller:
    """A climb as `poolpilot climb`, the demonstration and the evaluation run it, from the tuple in force.

    Args:
        settings: How it climbs.
        server: The server.
        objective: What it climbs on.
        names: The knobs that are climbed; many look round a prediction by their waves, so they never start as arrived.
        predictor: What a warm climb starts from; None is a cold climb.
        warm_start: How the predictor tries, and how long a cold climb observes first where something has a floor.

    Raises:
        SettingError: A setting is refused, or a knob cannot be climbed.
        ServerError: The server cannot be asked.
    """
    knobs = server.knobs

    def many(start: PoolTuple, _warm: bool, first: Window | None) -> Controller:
        return KnobClimbController(settings, knobs_to_try(server), start, objective, names, reference=first)

    open_climb = size_climb(settings, knobs, objective) if names == SIZE_ALONE else many
    cold = open_climb(server.tuple_in_force(), False, None)  # what it refuses, before anything is measured
    if predictor is None and not may_have_floors(objective, server):
        return cold
    if predictor is None:
        warm_start = (warm_start or WarmStartSettings()).observing(period_of(settings))
    return WarmStart(predictor, knobs, objective, open_climb, warm_start)


def may_have_floors(objective: Objective, server: AnyServer) -> bool:
    """Whether something under a server may have a floor; what has one only a window shows.

    Args:
        objective: What counts.
        server: The server; one that shows rows read and no classes has a floor for its long statements.

    Raises:
        ServerError: The server cannot be asked.
    """
    of_classes = any(objective.min_share.values())
    if of_classes or isinstance(server, WindowSource) or objective.min_rows_share == 0.0:
        return of_classes
    snapshot = server.snapshot()
    classes = any(name.startswith(LATENCY_PREFIX) for name in snapshot.histograms)
    return "rows_read" in snapshot.counters and not classes
