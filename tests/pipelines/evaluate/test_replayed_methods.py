"""Every method sees the same windows; what it chose is valued by others, against the oracle measured again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import AGAIN_ROUND, WorkloadSweep
from poolpilot.env.objective import Objective, regret
from poolpilot.errors import StoreError
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.pipelines.evaluate.evaluation import EvaluationSettings, Methods
from poolpilot.pipelines.evaluate.replayed_methods import evaluate_methods, starts_of
from poolpilot.pipelines.evaluate.statistics.outcomes import Outcome
from poolpilot.pipelines.store.dataset import read_dataset

SETTINGS = EvaluationSettings(start_sizes=(4, 16), window_s=0.7, replays=2, resamples=100)
SBS_TUPLE = PoolTuple(8, 1, 10)
ONE_START = EvaluationSettings(start_sizes=(), replays=8, resamples=100)
DEFAULT, MIDDLE = PoolTuple(1, 3, 500), PoolTuple(4, 3, 500)


class Spy:
    """Remembers the windows it was shown and leaves things alone."""

    def __init__(self) -> None:
        self.seen: list[Window] = []

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        assert limits.cpus == 2
        assert objective.price_of_thread == 0.02
        self.seen.append(windows[0])
        return advise(windows, windows[-1].pool_tuple.core, "it is fine", "spy")


def window_of(pool_tuple: PoolTuple, count: int) -> Window:
    """A window of a second in which so many requests ended after a millisecond."""
    gauges = {"connections": 64.0, "cpus": 1.0}
    before = Snapshot(0.0, 0, pool_tuple, {"completed": 0.0}, gauges, {LATENCY_PREFIX + "all": Histogram()})
    ended = {LATENCY_PREFIX + "all": Histogram.from_sparse([(bucket_of(1000.0), count)])}
    return Window.between(before, Snapshot(1.0, 0, pool_tuple, {"completed": float(count)}, gauges, ended))


def sweep_of(counts: Mapping[PoolTuple, Sequence[int]]) -> WorkloadSweep:
    """A sweep of the requests of each window of each tuple; the reference is worth 1000 of them afresh."""
    rounds = [(place, window_of(one, count)) for one, each in counts.items() for place, count in enumerate(each)]
    afresh = 2 * [(AGAIN_ROUND, window_of(DEFAULT, 1000))]
    return WorkloadSweep.build(
        [*rounds, *afresh],
        workload_id="work-1",
        family="work",
        split="test",
        limits=KnobSpace.stock(1),
        objective=Objective(price_of_thread=0.0),
    )


def refined(sweep: WorkloadSweep, tried: PoolTuple) -> Sequence[Outcome]:
    """What a refiner that tries one tuple made of eight replays."""
    methods = Methods({"sbs": StaticPredictor(DEFAULT)}, {"refined": Refiner(StaticPredictor(tried))})
    return evaluate_methods([sweep], methods, ONE_START, "test").outcomes["refined"]


@pytest.fixture
def sweeps(recorded_store: Path) -> list[WorkloadSweep]:
    """The test workloads of the recorded store."""
    return read_dataset(recorded_store, "test").of_split("test")


def test_all_methods_see_the_same_windows(sweeps: list[WorkloadSweep]) -> None:
    first, second, refining = Spy(), Spy(), Spy()
    refiner = Refiner(refining, RefinerSettings(measurement=MeasurementSettings(window_s=SETTINGS.window_s)))
    methods = Methods({"first": first, "second": second, "sbs": StaticPredictor(SBS_TUPLE)}, {"refined": refiner})
    evaluation = evaluate_methods(sweeps, methods, SETTINGS, "test")
    assert len(first.seen) == 2 * 3 * len(sweeps) == len(evaluation.outcomes["first"])
    assert [one.as_dict() for one in first.seen] == [one.as_dict() for one in second.seen]
    assert [one.as_dict() for one in first.seen] == [one.as_dict() for one in refining.seen]
    assert {outcome.start for outcome in evaluation.outcomes["first"]} == {"default", "size 4", "size 16"}


def test_regrets_are_against_the_oracle_measured_again(sweeps: list[WorkloadSweep]) -> None:
    methods = Methods({"default": DefaultPredictor(), "sbs": StaticPredictor(SBS_TUPLE)}, {})
    evaluation = evaluate_methods(sweeps, methods, SETTINGS, "test")
    by_id = {sweep.workload_id: sweep for sweep in sweeps}
    for outcome in evaluation.outcomes["sbs"]:
        sweep = by_id[outcome.workload_id]
        assert sweep.oracle_again is not None
        assert outcome.chosen == SBS_TUPLE.core
        assert outcome.regret == pytest.approx(regret(outcome.value, sweep.oracle_again))
    for outcome in evaluation.outcomes["oracle_again"]:
        sweep = by_id[outcome.workload_id]
        assert sweep.oracle_again is not None
        assert outcome.regret == pytest.approx(abs(regret(sweep.oracle_value, sweep.oracle_again)))


def test_the_report_has_the_promised_fields(sweeps: list[WorkloadSweep]) -> None:
    methods = Methods({"default": DefaultPredictor(), "sbs": StaticPredictor(SBS_TUPLE)}, {})
    report = evaluate_methods(sweeps, methods, SETTINGS, "test").as_dict()
    assert report["workloads"] == 6
    assert report["censored"] == {}
    assert report["replays"] == 2
    for name in ("default", "sbs", "oracle_again"):
        assert {"regret_median", "regret_p90", "within_5pct", "judged_by_seen", "abstained"} <= set(
            report["methods"][name]
        )
    assert set(report["paired_vs_sbs"]) == {"default", "oracle_again"}
    assert set(report["paired_vs_sbs"]["default"]) == {"mean_difference", "low", "high"}
    assert set(report["by_family"]) == {"unseen", "also_unseen"}
    assert report["methods"]["oracle_again"]["regret_median"] < 0.05
    assert report["methods"]["default"]["regret_median"] > report["methods"]["sbs"]["regret_median"]


def test_choice_is_valued_by_windows_that_the_method_has_not_seen() -> None:
    sweep = sweep_of({DEFAULT: (1000, 1000), MIDDLE: (900, 1100)})
    outcomes = refined(sweep, MIDDLE)
    assert {outcome.chosen for outcome in outcomes} == {DEFAULT.core, MIDDLE.core}
    for outcome in outcomes:
        worth = 900.0 if outcome.chosen == MIDDLE.core else 1000.0
        assert outcome.value == pytest.approx(math.log(worth)), "it is chosen by its lucky window"


def test_choice_that_breaks_a_floor_counts_as_no_better_than_the_default() -> None:
    sweep = sweep_of({DEFAULT: (1000, 1000), MIDDLE: (3000, 3000)})
    starved = replace(sweep.entries[MIDDLE.core], feasible=False)
    afresh = (math.log(1000.0), math.log(1000.0))
    sweep = replace(sweep, entries={**sweep.entries, MIDDLE.core: starved}, again_values=afresh)
    evaluation = evaluate_methods([sweep], Methods({"sbs": StaticPredictor(MIDDLE)}, {}), ONE_START, "test")
    assert {outcome.chosen for outcome in evaluation.outcomes["sbs"]} == {MIDDLE.core}
    assert all(outcome.value == pytest.approx(math.log(1000.0)) for outcome in evaluation.outcomes["sbs"])


def test_choice_whose_only_window_was_seen_is_counted() -> None:
    sweep = sweep_of({DEFAULT: (1000, 1000), MIDDLE: (1100,)})
    assert all(outcome.judged_by_seen for outcome in refined(sweep, MIDDLE))
    evaluation = evaluate_methods([sweep], Methods({"sbs": StaticPredictor(MIDDLE)}, {}), ONE_START, "test")
    assert not any(outcome.judged_by_seen for outcome in evaluation.outcomes["sbs"]), "named, and not measured"
    assert not any(outcome.judged_by_seen for outcome in refined(sweep, DEFAULT)), "it has another window"


def test_workload_that_cannot_judge_is_left_out_and_named(sweeps: list[WorkloadSweep]) -> None:
    first, *others = sweeps
    assert first.oracle_again is not None
    changed = replace(first, again_values=(first.oracle_again + 0.5,))
    methods = Methods({"sbs": StaticPredictor(SBS_TUPLE)}, {})
    report = evaluate_methods([changed, *others], methods, SETTINGS, "test").as_dict()
    assert report["workloads"] == len(others)
    assert "differs from itself" in report["censored"][first.workload_id]
    with pytest.raises(StoreError, match="no workload of the split 'test' can judge: the reference differs"):
        evaluate_methods([changed], methods, SETTINGS, "test")


def test_starts_that_were_not_measured_are_left_out(sweeps: list[WorkloadSweep]) -> None:
    settings = EvaluationSettings(start_sizes=(2, 16, 100))
    assert list(starts_of(sweeps[0], settings)) == ["default", "size 16"]
    only = {core: entry for core, entry in sweeps[0].entries.items() if core[0] == 1}
    with pytest.raises(StoreError, match="none of the initial configurations"):
        starts_of(replace(sweeps[0], entries=only), settings)


def test_an_oracle_never_measured_again_is_refused(sweeps: list[WorkloadSweep]) -> None:
    methods = Methods({"sbs": StaticPredictor(SBS_TUPLE)}, {})
    with pytest.raises(StoreError, match="was not measured again"):
        evaluate_methods([replace(sweeps[0], again_values=())], methods, SETTINGS, "test")
    with pytest.raises(StoreError, match="no workload of the split 'test'"):
        evaluate_methods([], methods, SETTINGS, "test")
