"""The methods of a live evaluation: each a controller on one server, with as many seconds as every other."""

from collections.abc import Callable, Mapping

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.portfolio import portfolio_on
from poolpilot.agent.controllers.trial_controller import TrialController
from poolpilot.agent.controllers.warm_start import WarmStart, WarmStartSettings, size_climb
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.models.artefact import Artefact
from poolpilot.models.latent.latent_bandit import LatentBandit, LatentBanditSettings
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.predictor import Predictor, ScorePredictor

OpenMethod = Callable[[KnobSpace, Objective], Controller]
"""Makes the controller of a method for one server."""


class MethodSettings(BaseModel):
    """How the methods measure, and how often those that try may do so."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tries: tuple[int, ...] = Field(default=(1, 2, 3, 5), description="Trials of the methods that try.")
    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(settle_s=0.2, window_s=0.5),
        description="What a trial drops, and how long it lasts.",
    )
    bandit: LatentBanditSettings = LatentBanditSettings().relaxed_for_trials()
    warm_start: WarmStartSettings = WarmStartSettings()
    climb: ClimbSettings = ClimbSettings()


def methods_on(curves: ResponseCurves, artefact: Artefact, settings: MethodSettings) -> Mapping[str, OpenMethod]:
    """Every method by name; the number behind a name is that of its trials.

    Args:
        curves: Known response curves, for the bandit, the constants and the portfolios.
        artefact: The network of the warm start.
        settings: How they measure.
    """
    bandit = LatentBandit(curves, settings.bandit)
    relaxed = ScorePredictor.for_trials(artefact)
    methods: dict[str, OpenMethod] = {"wait_ratio": _trying(WaitRatioFormula(LARGE_GRID), 1, settings)}
    for tries in settings.tries:
        methods[f"portfolio_{tries}"] = _portfolio(curves, tries, settings)
        methods[f"latent_bandit_{tries}"] = _trying(bandit, tries, settings)
    methods["refiner"] = _trying(relaxed, 3, settings)
    methods["warm_start"] = lambda knobs, objective: WarmStart(
        relaxed, knobs, objective, size_climb(settings.climb, knobs, objective), settings.warm_start
    )
    methods["cold"] = lambda knobs, objective: ClimbController(
        spectral_climber(settings.climb, knobs), knobs.default_tuple(), objective
    )
    return methods


def _trying(predictor: Predictor, tries: int, settings: MethodSettings) -> OpenMethod:
    return lambda knobs, objective: TrialController(predictor, knobs, objective, tries, settings.measurement)


def _portfolio(curves: ResponseCurves, tries: int, settings: MethodSettings) -> OpenMethod:
    def opened(knobs: KnobSpace, objective: Objective) -> Controller:
        portfolio = portfolio_on(curves, knobs, objective, tries)
        return TrialController(portfolio, knobs, objective, tries, settings.measurement)

    return opened
