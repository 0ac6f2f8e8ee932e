"""The methods of a live evaluation: each a controller on one server, with as many seconds as every other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from poolpilot.agent.baselines.formulas import WaitRatioFormula
from poolpilot.agent.baselines.nearest_ratios import NearestRatios
from poolpilot.agent.baselines.portfolio import portfolio_on
from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.agent.controllers.predictor_controller import PredictorController
from poolpilot.agent.controllers.trial_controller import TrialController
from poolpilot.agent.controllers.warm_start import WarmStart, size_climb
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.random_search import RandomSearch
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.agent.search.timed_search import TimedSearch
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import SIZE_ALONE
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.champion import load_any_machine, load_champion
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.evaluate.live.method_settings import MethodSettings
from poolpilot.pipelines.store.recorded_curves import recorded_curves

OpenMethod = Callable[[KnobSpace, Objective, int], Controller]
"""Makes the controller of a method for one server; the number is the seed of what it draws by itself."""

DEAREST = 1.0
"""Largest price of a thread that the climber takes: ten per cent of throughput for ten per cent more threads."""

NEEDS_RATIOS = ("nearest", "trees")

NO_RATIOS = (
    "the response curves hold no ratios of windows to learn from; name a store of records, --set "
    "files.methods.stores=FOLDER, or make curves that hold some, poolpilot learn curves"
)


@dataclass(frozen=True)
class EvaluatedMethods:
    """What is evaluated.

    Attributes:
        opened: Every method by name; the number behind a name is that of its trials.
        left_out: Why others are not, by name.
    """

    opened: Mapping[str, OpenMethod]
    left_out: Mapping[str, str]


def methods_on(
    curves: ResponseCurves, networks: Sequence[Artefact], settings: MethodSettings, budget_s: float
) -> EvaluatedMethods:
    """The methods that were asked for, or all of them; what none of them needs is not fitted.

    Args:
        curves: Known response curves, for the bandit, the constants and the portfolios.
        networks: The networks, one for each kind of server.
        settings: Which methods, and how they measure.
        budget_s: Seconds that the searches may fill.

    Raises:
        SettingError: A name is of no method, or of one that what is named does not suffice for.
        StoreError: A store to learn from has no training workload.
        ArtefactError: A further network is missing or damaged.
    """
    workshop = _Workshop(curves, networks, settings, budget_s)
    has_ratios = bool(settings.stores) or any(curve.ratios for curve in curves.curves)
    left_out = {} if has_ratios else dict.fromkeys(NEEDS_RATIOS, NO_RATIOS)
    makers = {name: make for name, make in workshop.makers().items() if name.rpartition("_")[0] not in left_out}
    for name in settings.names:
        if name.rpartition("_")[0] in left_out:
            raise SettingError(f"the method {name!r} cannot run: {NO_RATIOS}")
        if name not in makers:
            raise SettingError(f"there is no method {name!r}; names may be {', '.join(makers)}")
    return EvaluatedMethods(
        {name: make() for name, make in makers.items() if not settings.names or name in settings.names}, left_out
    )


@dataclass
class _Workshop:
    """Makes the methods; what several of them share is made once, when it is first needed."""

    curves: ResponseCurves
    networks: Sequence[Artefact]
    settings: MethodSettings
    budget_s: float

    def makers(self) -> dict[str, Callable[[], OpenMethod]]:
        """What makes each method, by name."""
        found: dict[str, Callable[[], OpenMethod]] = {
            "constant_best": lambda: self._constant,
            "wait_ratio": lambda: self._trying(WaitRatioFormula(LARGE_GRID), 1),
            "advise": self._advise,
            "latent_advisor": lambda: self._once(Advisor(Model.of(self.curves))),
            "one_shot": lambda: self._once(self._networks(Purpose.ADVICE)),
            "warm_network": lambda: self._warm(self._networks(Purpose.TRIAL)),
            "warm_start": lambda: self._warm(self._bandit()),
            "cold": lambda: self._cold,
            "random_search": lambda: self._random_search,
            "gp_ucb": self._gp_ucb,
        }
        for trials in self.settings.trials:
            found[f"portfolio_{trials}"] = partial(self._portfolio, trials)
            for name, make in self._tried().items():
                found[f"{name}_{trials}"] = partial(self._trying_made, make, trials)
        return found

    def _bandit(self) -> Predictor:
        return Advisor(Model.of(self.curves), Purpose.WARM_START)

    def _tried(self) -> dict[str, Callable[[], Predictor]]:
        """What makes each predictor that is tried, by name."""
        own: dict[str, Callable[[], Predictor]] = {
            "latent_bandit": self._bandit,
            "refiner": lambda: self._networks(Purpose.TRIAL),
            "nearest": lambda: NearestRatios(self._library, self.settings.nearest),
            "trees": lambda: self._trees,
        }
        further = {name: partial(self._network, folder) for name, folder in self.settings.model_folders.items()}
        for name in further.keys() & {*own, "portfolio"}:
            raise SettingError(f"a further model cannot be called {name!r}, which is a method of its own; name it anew")
        return {**own, **further}

    @cached_property
    def _library(self) -> ResponseCurves:
        """The response curves and those of the stores, of which ratios were kept."""
        stores = self.settings.stores
        recorded = recorded_curves(stores, self.curves.grid, older_timer=True)  # nothing that ships learns here
        known = tuple(curve for curve in (*self.curves.curves, *recorded) if curve.ratios)
        return ResponseCurves(grid=self.curves.grid, source=self.curves.source, curves=known)

    @cached_property
    def _trees(self) -> Predictor:
        # Scikit-learn comes with the extra `train`, which who asks for other methods need not have.
        from poolpilot.agent.baselines.ratio_trees import RatioTrees

        return RatioTrees.fit(self._library, self.settings.trees)

    @staticmethod
    def _network(folder: Path) -> Predictor:
        return Advisor(Model.of(None, [load(folder)]), Purpose.TRIAL)

    def _trying_made(self, make: Callable[[], Predictor], trials: int) -> OpenMethod:
        return self._trying(make(), trials)

    def _trying(self, predictor: Predictor, trials: int) -> OpenMethod:
        measurement = self.settings.measurement
        return lambda knobs, objective, _: TrialController(predictor, knobs, objective, trials, measurement)

    def _portfolio(self, trials: int) -> OpenMethod:
        def opened(knobs: KnobSpace, objective: Objective, seed: int) -> Controller:
            return self._trying(portfolio_on(self.curves, knobs, objective, trials), trials)(knobs, objective, seed)

        return opened

    def _constant(self, knobs: KnobSpace, objective: Objective, _: int) -> Controller:
        constant = StaticPredictor(constant_on(self.curves, knobs, objective))
        return PredictorController(constant, knobs, objective)

    def _once(self, predictor: Predictor) -> OpenMethod:
        window_s = self.settings.measurement.window_s
        return lambda knobs, objective, _: PredictorController(predictor, knobs, objective, window_s=window_s)

    @cached_property
    def _any_machine(self) -> Artefact | None:
        """The shipped network for machines of any size; one's own network is asked alone."""
        shipped = load_champion().digest in [network.digest for network in self.networks]
        return load_any_machine() if shipped else None

    def _networks(self, purpose: Purpose) -> Predictor:
        return Advisor(Model.of(None, self.networks, self._any_machine), purpose)

    def _advise(self) -> OpenMethod:
        predictor = Advisor(Model.of(self.curves, self.networks, self._any_machine), server_view=True)
        advice_s = min(self.settings.advice_s, 0.5 * self.budget_s)
        return lambda knobs, objective, _: PredictorController(predictor, knobs, objective, window_s=advice_s)

    def _warm(self, predictor: Predictor | None) -> OpenMethod:
        settings = self.settings
        return lambda knobs, objective, _: WarmStart(
            predictor, knobs, objective, size_climb(self._climb(objective), knobs, objective), settings.warm_start
        )

    def _cold(self, knobs: KnobSpace, objective: Objective, seed: int) -> Controller:
        if any(objective.min_share.values()):
            return self._warm(None)(knobs, objective, seed)
        return ClimbController(spectral_climber(self._climb(objective), knobs), knobs.default_tuple(), objective)

    def _climb(self, objective: Objective) -> ClimbSettings:
        """How it climbs, at the price of threads by which the workload's configurations are judged."""
        price = min(objective.price_of_thread, DEAREST)
        return self.settings.climb.model_copy(update={"price_of_thread": price})

    def _random_search(self, knobs: KnobSpace, objective: Objective, seed: int) -> Controller:
        return self._searching(RandomSearch(self._space(knobs), objective, self._search_of(seed)))

    def _gp_ucb(self) -> OpenMethod:
        # BoTorch comes with the extra `train`.
        from poolpilot.agent.search.bayesian import BayesianOptimisation

        def opened(knobs: KnobSpace, objective: Objective, seed: int) -> Controller:
            return self._searching(BayesianOptimisation(self._space(knobs), objective, self._search_of(seed)))

        return opened

    def _search_of(self, seed: int) -> BayesianSettings:
        """How searches draw under one workload; with a seed of the settings other draws under each."""
        settings = self.settings.search
        return settings.model_copy(update={"seed": settings.seed + seed})

    def _searching(self, search: SearchController) -> Controller:
        return TimedSearch(search, self.settings.measurement, self.budget_s)

    def _space(self, knobs: KnobSpace) -> SearchSpace:
        """Every size that a server takes, with the oversubscribes and timer intervals of the grid."""
        grid = self.curves.grid
        asked = {"oversubscribe": grid.oversubscribes, "timer_interval_ms": grid.timer_intervals_ms}
        choices = {name: values for name, values in asked.items() if name in knobs.knobs}
        return SearchSpace.of(knobs, [*SIZE_ALONE, *choices], choices, knobs.default_tuple())
