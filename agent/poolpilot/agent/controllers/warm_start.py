"""The warm start: look, predict, set, look again, then let a climb hold and watch."""

from collections.abc import Callable, Generator

from pydantic import Field

from poolpilot.agent.controllers.trial_rule import TrialRule, TrialSettings
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import SIZE_ALONE, KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.server import Tunable
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction, ProbingPredictor
from poolpilot.native_pool import SpectralSettings

OpenClimb = Callable[[PoolTuple, bool], Controller]
"""Makes what takes over at a tuple; the flag says whether it starts as if it had arrived (warm)."""


class WarmStartSettings(TrialSettings):
    """How long a predictor measures and how often it may decide.

    It takes a short window first: where the gain that the model promises, or the change that a new tuple has brought,
    is far beyond the noise of so short a window, it goes on at once, since every moment under a bad tuple costs; else
    it takes a longer one.
    """

    settle_s: float = Field(default=0.05, ge=0.0, description="Seconds after a change that are not measured.")
    short_window_s: float = Field(default=0.1, gt=0.0, description="Length of the first window in seconds.")
    decisive_promise: float = Field(
        default=0.15,
        ge=0.0,
        description="Gain in ln J that the model must promise for the first short window to be enough.",
    )
    decisive_change: float = Field(
        default=2.0,
        ge=0.0,
        description="Standard errors a new tuple must have changed J by for a short window to be enough.",
    )
    window_s: float = Field(default=0.3, gt=0.0, description="Length of the window that follows where it is not.")


MARIADB_WARM_START = WarmStartSettings(settle_s=0.4, short_window_s=0.8, window_s=2.0)
"""For MariaDB, which settles and counts more slowly than the embedded pool: three tuples within ten seconds."""


class WarmStart(Controller):
    """Tries what a predictor names from the workload's first second, then climbs: cold if the predictor abstained.

    Args:
        predictor: What is asked.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        open_climb: Makes what takes over at the tuple chosen.
        settings: How it looks.
    """

    def __init__(
        self,
        predictor: ProbingPredictor,
        knobs: KnobSpace,
        objective: Objective,
        open_climb: OpenClimb,
        settings: WarmStartSettings | None = None,
    ) -> None:
        self.climb: Controller | None = None
        """What has taken over; None while the predictor still looks."""
        self._settings = settings or WarmStartSettings()
        self._rule = TrialRule(predictor, knobs, objective, self._settings)
        self._open_climb = open_climb
        self._looked: list[Window] = []
        self._looks = self._look()
        self._trial = next(self._looks)

    @property
    def predictions(self) -> list[Prediction]:
        """What the predictor said, in order."""
        return self._rule.predictions

    def suggest(self) -> Trial:
        """The next look, or what the climb wants."""
        return self._trial if self.climb is None else self.climb.suggest()

    def observe(self, window: Window) -> None:
        """Takes what was looked at, or hands it to the climb.

        Raises:
            SettingError: The server's limits allow no tuple.
        """
        if self.climb is not None:
            return self.climb.observe(window)
        try:
            self._trial = self._looks.send(window)
        except StopIteration:
            best = self._rule.best(self._looked).pool_tuple
            self.climb = self._open_climb(best, not self.predictions[-1].abstained)

    def recommend(self) -> PoolTuple | None:
        """What the climb recommends; before that the best tuple looked at."""
        if self.climb is not None:
            return self.climb.recommend()
        return self._rule.best(self._looked).pool_tuple if self._looked else None

    def _look(self) -> Generator[Trial, Window, None]:
        """Yields what it wants to see and is sent the window of it, until there is nothing more to try."""
        looked = self._looked
        looked.append((yield from self._short_window(None)))
        if not self._is_decisive(self._rule.ask(looked)):
            looked[:] = [(yield Trial(None, self._settings.window_s))]
            self._rule.ask(looked)
        while (trial := self._rule.next_trial(looked)) is not None:
            looked.append((yield from self._look_at_change(trial)))
            self._rule.ask(looked)

    def _is_decisive(self, prediction: Prediction) -> bool:
        return not prediction.abstained and (prediction.expected_gain or 0.0) >= self._settings.decisive_promise

    def _look_at_change(self, trial: PoolTuple) -> Generator[Trial, Window, Window]:
        """A short window if the tuple tried has changed J much since the first window and since the latest."""
        short = yield from self._short_window(trial)
        changes = (self._rule.standard_errors(before, short) for before in (self._looked[0], self._looked[-1]))
        return (
            short if min(changes) >= self._settings.decisive_change else (yield Trial(trial, self._settings.window_s))
        )

    def _short_window(self, pool_tuple: PoolTuple | None) -> Generator[Trial, Window, Window]:
        if self._settings.settle_s > 0.0:
            yield Trial(pool_tuple, self._settings.settle_s)
        return (yield Trial(pool_tuple, self._settings.short_window_s))


def size_climb(settings: ClimbSettings | SpectralSettings, knobs: KnobSpace, objective: Objective) -> OpenClimb:
    """What takes over is the spectral climber of the pool size.

    Args:
        settings: How it climbs.
        knobs: The knobs of the server and their ranges.
        objective: What it climbs on.
    """

    def open_climb(start: PoolTuple, warm: bool) -> Controller:
        return ClimbController(spectral_climber(settings, knobs, start.pool_size, warm=warm), start, objective)

    return open_climb


def climb_controller(
    settings: ClimbSettings | SpectralSettings,
    server: Tunable,
    objective: Objective,
    names: tuple[str, ...] = SIZE_ALONE,
    predictor: ProbingPredictor | None = None,
    looks: WarmStartSettings | None = None,
) -> Controller:
    """A climb as `poolpilot climb`, the demonstration and the evaluation run it, from the tuple in force.

    Args:
        settings: How it climbs.
        server: The server.
        objective: What it climbs on.
        names: The knobs that are climbed; many look round a prediction by their waves, so they never start as arrived.
        predictor: What a warm climb starts from; None is a cold climb.
        looks: How the predictor looks at the server.

    Raises:
        SettingError: A setting is refused, or a knob cannot be climbed.
    """
    knobs = server.knobs

    def many(start: PoolTuple, _warm: bool) -> Controller:
        return KnobClimbController(settings, knobs, start, objective, names)

    open_climb: OpenClimb = size_climb(settings, knobs, objective) if names == SIZE_ALONE else many
    if predictor is None:
        return open_climb(server.tuple_in_force(), False)
    return WarmStart(predictor, knobs, objective, open_climb, looks)
