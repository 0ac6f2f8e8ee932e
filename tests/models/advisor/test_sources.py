"""The network answers where it is sure, the curves where it abstains or its change may lose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.objective import Objective
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import KindNetworks, Model
from poolpilot.models.champion import MODEL_FOR, load_champion
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.wait_rules import DIGEST
from poolpilot.models.predictor import Estimate, Preference, ScorePredictor


@dataclass
class Told:
    """Answers as it is told to."""

    size: int
    abstained: bool = False
    low: float = 0.1
    asked: list[Sequence[Window]] = field(default_factory=list)
    low_over_in_force: float = 0.1
    digest: str = "network"
    cpus: tuple[int, ...] = (2,)

    @property
    def artefact(self) -> SimpleNamespace:
        known = SimpleNamespace(knows_cpus=lambda cpus: cpus in self.cpus)
        return SimpleNamespace(card=SimpleNamespace(out_of_distribution=known))

    def prefer(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Preference:
        estimate = Estimate(0.3, self.low_over_in_force, 0.5, 0.0)
        return Preference(windows[-1].pool_tuple, estimate, estimate, estimate)

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        self.asked.append(windows)
        in_force = windows[-1].pool_tuple
        named = in_force if self.abstained else in_force.with_core((self.size, 3, 500))
        return Prediction(named, in_force, self.abstained, ("told",), self.digest, 0.3, self.low, 0.5)


def asking(curves: ResponseCurves, told: Told, any_machine: Told | None = None) -> Advisor:
    """An advisor whose networks of all kinds answer as they are told to."""
    other = None if any_machine is None else cast("ScorePredictor", any_machine)
    networks = KindNetworks(cast("ScorePredictor", told), other)
    return Advisor(Model(curves, dict.fromkeys(MODEL_FOR.values(), networks)))


def silent(curves: ResponseCurves) -> ResponseCurves:
    """The same of which nothing was kept that could be compared: they advise nothing, so that rules are asked."""
    blank = tuple(one.model_copy(update={"ratios": ()}) for one in curves.curves)
    return ResponseCurves(grid=curves.grid, source=curves.source, curves=blank)


@pytest.fixture
def window() -> tuple[Window, KnobSpace]:
    sweep = sample_sweeps("page_faults")[0]
    return sweep.entries[sweep.limits.default_tuple().core].windows[0], sweep.limits


@pytest.mark.parametrize(
    ("told", "answers"),
    [
        (Told(32), "network"),
        (Told(32, low=-0.04), "network"),
        (Told(32, low=-0.2), "curves"),
        (Told(32, abstained=True), "curves"),
    ],
)
def test_who_answers(curves: ResponseCurves, window: tuple[Window, KnobSpace], told: Told, answers: str) -> None:
    seen, limits = window
    look = asking(curves, told)
    prediction = look.predict([seen], limits, Objective())
    assert prediction.model_digest == ("network" if answers == "network" else curves.digest)
    assert len(told.asked) == 1


@pytest.mark.parametrize(
    ("server_kind", "cpus", "low", "answers"),
    [
        ("native", 2, 0.1, "network"),
        ("native", 8, 0.1, "any machine"),
        ("native", 8, -0.2, "curves"),
        ("native", None, 0.1, "network"),
        ("simulated", 2, 0.1, "any machine"),
    ],
)
def test_who_answers_on_a_machine_of_such_a_kind_and_size(
    curves: ResponseCurves,
    window: tuple[Window, KnobSpace],
    server_kind: ServerKind,
    cpus: int | None,
    low: float,
    answers: str,
) -> None:
    seen = replace(window[0], server_kind=server_kind)
    told, other = Told(32), Told(32, low=low, low_over_in_force=low, digest="any machine", cpus=(4, 8))
    look = asking(curves, told, other)
    limits = KnobSpace.stock(cpus) if cpus else KnobSpace.of_ranges(None, KnobSpace.stock(2).ranges)
    prediction = look.predict([seen], limits, Objective())
    assert prediction.model_digest == (curves.digest if answers == "curves" else answers)
    assert len(told.asked) + len(other.asked) == 1


@pytest.mark.parametrize(("low", "answers"), [(0.1, "network"), (-0.2, "curves")])
def test_after_several_windows_a_change_is_held_beside_what_is_in_force(
    curves: ResponseCurves, window: tuple[Window, KnobSpace], low: float, answers: str
) -> None:
    seen, limits = window
    told = Told(32, low=0.2, low_over_in_force=low)
    look = asking(curves, told)
    prediction = look.predict([seen, replace(seen, pool_tuple=PoolTuple(8, 3, 500))], limits, Objective())
    assert prediction.model_digest == ("network" if answers == "network" else curves.digest)


def test_what_is_to_stay_may_stay_whatever_its_interval(
    curves: ResponseCurves, window: tuple[Window, KnobSpace]
) -> None:
    seen, limits = window
    told = Told(seen.pool_tuple.pool_size, low=-0.5)
    look = asking(curves, told)
    assert look.predict([seen], limits, Objective()).verdict == "leave it"


@pytest.mark.parametrize(
    ("told", "size", "answers"),
    [(Told(2), 1, "rules"), (Told(2, abstained=True), 1, "rules"), (Told(32), 32, "network")],
)
def test_rules_answer_where_no_change_is_advised(
    curves: ResponseCurves, window_of: Callable[..., Window], limits: KnobSpace, told: Told, size: int, answers: str
) -> None:
    hot = {"connections": 256.0, "utilisation": 0.7, "waits_row_lock_per_request": 0.2}
    seen = replace(window_of(1, PoolTuple(2, 3, 500), **hot), server_kind="mariadb")
    prediction = asking(silent(curves), told).predict([seen], limits, Objective())
    assert prediction.verdict == "change"
    assert prediction.pool_tuple.pool_size == size
    assert prediction.model_digest == (DIGEST if answers == "rules" else "network")
    assert (prediction.expected_gain is None) == (answers == "rules")


@pytest.mark.parametrize(("rows_per_s", "named"), [(0.0, (64, 3, 10)), (1e6, (4, 3, 10))])
def test_what_a_rule_advises_keeps_the_floors_too(
    curves: ResponseCurves,
    window_of: Callable[..., Window],
    limits: KnobSpace,
    rows_per_s: float,
    named: tuple[int, int, int],
) -> None:
    waiting = {"connections": 256.0, "utilisation": 0.1, "active_threads_mean": 2.0, "queue_length_mean": 200.0}
    waiting["waits_row_lock_per_request"] = 0.0
    seen = replace(
        window_of(1, PoolTuple(2, 3, 500), **waiting).without_classes(),
        indicators={"machine_idle_share": 0.95, ROWS_READ_PER_S: rows_per_s},
        server_kind="mariadb",
    )
    look = asking(silent(curves), Told(2))
    prediction = look.predict([seen], limits, Objective())
    assert prediction.pool_tuple.core == named
    assert any("long ones are among them" in reason for reason in prediction.reasons) == (rows_per_s > 0.0)


def test_what_a_rule_advises_says_that_no_known_workload_ran_on_so_large_a_machine(
    curves: ResponseCurves, window_of: Callable[..., Window]
) -> None:
    waiting = {"connections": 256.0, "utilisation": 0.1, "active_threads_mean": 96.0, "queue_length_mean": 100.0}
    waiting["waits_row_lock_per_request"] = 0.0
    seen = window_of(1, PoolTuple(2, 3, 500), **waiting).without_classes()
    seen = replace(seen, indicators={"machine_idle_share": 0.9}, server_kind="mariadb")
    look = asking(curves, Told(2, abstained=True))
    prediction = look.predict([seen], KnobSpace.stock(96), Objective())
    assert (prediction.verdict, prediction.expected_gain) == ("change", None)
    assert prediction.reasons[1] == "the known workloads ran on 1 to 2 processors, and this server has 96"


def test_shipped_network_answers_for_the_workload_that_it_knows(window: tuple[Window, KnobSpace]) -> None:
    seen, limits = window
    look = Advisor(Model.of(load_curves(), [load_champion()]))
    prediction = look.predict([seen], limits, Objective())
    assert (prediction.verdict, prediction.pool_tuple.pool_size > 8) == ("change", True)
