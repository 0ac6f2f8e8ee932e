"""Every method of a live evaluation runs on any machine, as one controller each."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from poolpilot.agent.controllers.warm_start import WarmStart
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import SettingError
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import champion_folder, load_any_machine, load_champion
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratio_names
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.predictor import Preference, ScorePredictor
from poolpilot.native_pool import RequestClass, SpectralClimber, Step, Workload
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod, methods_on
from poolpilot.pipelines.evaluate.live.method_settings import MethodSettings

GRID = MachineGrid(sizes=(4, 64), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(500,))
CURVES = ResponseCurves(
    grid=GRID,
    source="made for tests",
    curves=(
        ResponseCurve(name="a", family="a", cpus=2, connections=64, log_worth=(1.0, 3.0, 0.0)),
        ResponseCurve(name="b", family="b", cpus=2, connections=64, log_worth=(3.0, 1.0, 2.5)),
    ),
)


READS = RequestClass("reads", (Step("cpu", us=200.0), Step("wait", us=2000.0)))
QUICK = MethodSettings(trials=(1, 2), search=BayesianSettings(random_rounds=2, candidates=20))
CURVE = [(1, 100), (16, 1200), (128, 600)]


def with_ratios(curves: ResponseCurves) -> ResponseCurves:
    """The same curves, of workloads that looked alike but for their utilisation."""
    names = ratio_names()
    rows = [[None if name != "utilisation" else float(place) for name in names] for place in range(len(curves.curves))]
    listed = tuple(
        curve.model_copy(update={"ratios": (tuple(row),) * len(curves.grid.reference_columns)})
        for curve, row in zip(curves.curves, rows, strict=True)
    )
    return ResponseCurves(grid=curves.grid, source=curves.source, curves=listed)


def run(open_method: OpenMethod, cpus: int = 2, noise: float = 0.0, seed: int = 0) -> TuningTrace:
    with CurveServer(CURVE, cpus=cpus, connections=256, noise=noise) as server:
        controller = open_method(server.knobs, Objective(), seed)
        return tune(server, controller, Objective(), period_s=0.5, horizon_s=6.0)


def test_advise_asks_a_network_of_ones_own_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the shipped network for any machine answered of simulated machines, where `predict` asks one's own."""
    asked: list[Artefact | None] = []

    def recorded(curves: ResponseCurves, _networks: object, any_machine: Artefact | None) -> Model:
        asked.append(any_machine)
        return Model(curves, {})

    monkeypatch.setattr(Model, "of", recorded)
    shipped, own = load_champion(), load_any_machine()  # stands for one that somebody has trained
    for network in (shipped, own):
        methods_on(CURVES, [network], MethodSettings(names=("advise",)), 6.0)
    assert [None if one is None else one.digest for one in asked] == [own.digest, None]


@pytest.mark.parametrize("cpus", [1, 6, 96])
def test_every_method_runs_on_any_machine(cpus: int) -> None:
    methods = methods_on(with_ratios(CURVES), [load_champion()], QUICK, 6.0)
    assert methods.left_out == {}
    tried = {
        f"{name}_{count}" for name in ("portfolio", "latent_bandit", "refiner", "nearest", "trees") for count in (1, 2)
    }
    alone = {
        "constant_best",
        "wait_ratio",
        "advise",
        "latent_advisor",
        "one_shot",
        "warm_start",
        "warm_network",
        "cold",
        "random_search",
        "gp_ucb",
    }
    assert set(methods.opened) == tried | alone
    for open_method in methods.opened.values():
        trace = run(open_method, cpus)
        assert trace.duration_s == pytest.approx(6.0, abs=1.0)
        limits = KnobSpace.stock(cpus)
        assert all(limits.allows(step.pool_tuple) for step in trace.steps)


def test_page_says_what_every_method_does() -> None:
    page = (Path(__file__).parents[4] / "docs/evaluation.md").read_text(encoding="utf-8")
    methods = methods_on(with_ratios(CURVES), [load_champion()], QUICK, 6.0)
    named = {re.sub(r"_\d+$", "_k", name) for name in methods.opened}
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    assert {name for name in named if not any(f"`{name}`" in row.split("|")[1] for row in rows)} == set()


@pytest.mark.parametrize("name", ["constant_best", "nearest_2", "trees_2", "random_search", "gp_ucb", "refiner_2"])
def test_methods_are_deterministic(name: str) -> None:
    first, second = (
        run(methods_on(with_ratios(CURVES), [load_champion()], QUICK, 6.0).opened[name], noise=0.05) for _ in range(2)
    )
    assert [step.pool_tuple for step in first.steps] == [step.pool_tuple for step in second.steps]


@pytest.mark.parametrize("name", ["random_search", "gp_ucb"])
def test_searches_draw_other_tuples_under_another_seed(name: str) -> None:
    """Before, they tried the same tuples in the same order under every workload."""
    opened = methods_on(with_ratios(CURVES), [load_champion()], QUICK, 6.0).opened[name]
    first, second = ([step.pool_tuple for step in run(opened, seed=seed).steps] for seed in (1, 2))
    assert first != second


@pytest.mark.parametrize("name", ["one_shot", "refiner_1", "warm_network"])
def test_networks_ask_the_one_for_any_machine_where_their_own_does_not_know_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, they abstained on simulated machines of every size, where `advise` asks a network."""
    asked: list[str] = []
    predict = ScorePredictor.prefer

    def recorded(self: ScorePredictor, *given: Any) -> Preference:
        asked.append(self.artefact.digest)
        return predict(self, *given)

    monkeypatch.setattr(ScorePredictor, "prefer", recorded)
    opened = methods_on(with_ratios(CURVES), [load_champion()], QUICK, 6.0).opened[name]
    with SimulatedServer(Workload("mine", "mine", (READS,), connections=64, cpus=6)) as server:
        tune(server, opened(server.knobs, Objective(), 0), Objective(), period_s=0.5, horizon_s=3.0)
    assert set(asked) == {load_any_machine().digest}


def test_methods_are_chosen_by_name() -> None:
    chosen = QUICK.model_copy(update={"names": ("portfolio_2", "cold")})
    assert set(methods_on(CURVES, [load_champion()], chosen, 6.0).opened) == {"portfolio_2", "cold"}


def test_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(SettingError, match="no method 'portfolio_9'; names may be constant_best"):
        methods_on(CURVES, [load_champion()], QUICK.model_copy(update={"names": ("portfolio_9",)}), 6.0)


def test_what_has_nothing_to_learn_from_is_left_out_and_said() -> None:
    methods = methods_on(CURVES, [load_champion()], QUICK, 6.0)
    assert set(methods.left_out) == {"nearest", "trees"}
    assert not any(name.startswith(("nearest", "trees")) for name in methods.opened)
    with pytest.raises(SettingError, match=r"'trees_1' cannot run: the response curves hold no ratios"):
        methods_on(CURVES, [load_champion()], QUICK.model_copy(update={"names": ("trees_1",)}), 6.0)


def test_further_networks_are_tried_like_the_refiner() -> None:
    folder = champion_folder()
    settings = QUICK.model_copy(update={"models": (f"ppo={folder}",), "names": ("ppo_2", "refiner_2")})
    methods = methods_on(CURVES, [load_champion()], settings, 6.0).opened
    ppo, refiner = run(methods["ppo_2"]), run(methods["refiner_2"])
    assert [step.pool_tuple for step in ppo.steps] == [step.pool_tuple for step in refiner.steps]
    taken = QUICK.model_copy(update={"models": (f"refiner={folder}",)})
    with pytest.raises(SettingError, match="cannot be called 'refiner'"):
        methods_on(CURVES, [load_champion()], taken, 6.0)


@pytest.mark.parametrize("values", [{"trials": (0,)}, {"trials": (9,)}, {"models": ("ppo",)}, {"models": ("=folder",)}])
def test_settings_that_make_no_sense_are_refused(values: dict[str, tuple[object, ...]]) -> None:
    with pytest.raises(ValidationError):
        MethodSettings.model_validate(values)


def test_network_abstains_on_servers_of_a_kind_it_has_not_learned_from() -> None:
    with CurveServer(CURVE) as server:
        window = replace(observe(server, 1.0).window, server_kind="mariadb")
        network = Advisor(Model.of(None, [load_champion()]), Purpose.TRIAL)
        prediction = network.predict([window], server.knobs, Objective())
        assert prediction.abstained
        assert "'mariadb'" in prediction.reasons[0]
        assert network.probe([window], server.knobs, Objective()) is None


@pytest.mark.parametrize("price", [0.0, 0.5, 30.0])
def test_climbs_pay_what_a_thread_costs_where_they_are_judged(price: float) -> None:
    opened = methods_on(CURVES, [], MethodSettings(names=("cold", "warm_start")), 15.0).opened
    server = CurveServer([(1, 100.0), (64, 110.0)])
    for name in ("cold", "warm_start"):
        controller = opened[name](server.knobs, Objective(price_of_thread=price), 0)
        tune(server, controller, Objective(price_of_thread=price), period_s=0.25, horizon_s=60.0)
        climb = controller.climb if isinstance(controller, WarmStart) else controller
        assert isinstance(climb, ClimbController)
        assert isinstance(climb.climber, SpectralClimber)
        assert climb.climber.settings.price_of_thread == min(price, 1.0)
