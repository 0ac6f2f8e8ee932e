"""Every method sees the same windows, and pays for what it chose against the oracle measured again."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
from poolpilot.agent.controllers.refiner import Refiner, RefinerSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective, regret
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction
from poolpilot.pipelines.evaluate.evaluation import EvaluationSettings, Methods, evaluate_methods, starts_of
from poolpilot.pipelines.store.dataset import read_dataset

SETTINGS = EvaluationSettings(start_sizes=(4, 16), window_s=0.7, resamples=100)
SBS_TUPLE = PoolTuple(8, 1, 10)


class Spy:
    """Remembers the windows it was shown and leaves things alone."""

    def __init__(self) -> None:
        self.seen: list[Window] = []

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        assert limits.cpus == 2
        assert objective.price_of_thread == 0.02
        self.seen.append(windows[0])
        return advise(windows, windows[-1].pool_tuple.core, "it is fine", "spy")


@pytest.fixture
def sweeps(recorded_store: Path) -> list[WorkloadSweep]:
    """The test workloads of the recorded store."""
    return read_dataset(recorded_store, "test").of_split("test")


def test_all_methods_see_the_same_windows(sweeps: list[WorkloadSweep]) -> None:
    first, second, refining = Spy(), Spy(), Spy()
    refiner = Refiner(refining, RefinerSettings(measurement=MeasurementSettings(window_s=SETTINGS.window_s)))
    methods = Methods({"first": first, "second": second, "sbs": StaticPredictor(SBS_TUPLE)}, {"refined": refiner})
    evaluation = evaluate_methods(sweeps, methods, SETTINGS, "test")
    assert len(first.seen) == 3 * len(sweeps) == len(evaluation.outcomes["first"])
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
        assert outcome.regret == pytest.approx(regret(sweep.value(SBS_TUPLE), sweep.oracle_again))
    for outcome in evaluation.outcomes["oracle_again"]:
        sweep = by_id[outcome.workload_id]
        assert sweep.oracle_again is not None
        assert outcome.regret == pytest.approx(abs(regret(sweep.oracle_value, sweep.oracle_again)))


def test_the_report_has_the_promised_fields(sweeps: list[WorkloadSweep]) -> None:
    methods = Methods({"default": DefaultPredictor(), "sbs": StaticPredictor(SBS_TUPLE)}, {})
    report = evaluate_methods(sweeps, methods, SETTINGS, "test").as_dict()
    assert report["workloads"] == 6
    for name in ("default", "sbs", "oracle_again"):
        assert {"regret_median", "regret_p90", "within_5pct", "cvar10", "abstained"} <= set(report["methods"][name])
    assert set(report["paired_vs_sbs"]) == {"default", "oracle_again"}
    assert set(report["paired_vs_sbs"]["default"]) == {"mean_difference", "low", "high"}
    assert set(report["by_family"]) == {"unseen", "also_unseen"}
    assert report["methods"]["oracle_again"]["regret_median"] < 0.05
    assert report["methods"]["default"]["regret_median"] > report["methods"]["sbs"]["regret_median"]


def test_starts_that_were_not_measured_are_left_out(sweeps: list[WorkloadSweep]) -> None:
    settings = EvaluationSettings(start_sizes=(2, 16, 100))
    assert list(starts_of(sweeps[0], settings)) == ["default", "size 16"]
    only = {core: entry for core, entry in sweeps[0].entries.items() if core[0] == 1}
    with pytest.raises(StoreError, match="none of the starting tuples"):
        starts_of(replace(sweeps[0], entries=only), settings)


def test_an_oracle_never_measured_again_is_refused(sweeps: list[WorkloadSweep]) -> None:
    methods = Methods({"sbs": StaticPredictor(SBS_TUPLE)}, {})
    with pytest.raises(StoreError, match="was not measured again"):
        evaluate_methods([replace(sweeps[0], again_values=())], methods, SETTINGS, "test")
    with pytest.raises(StoreError, match="no workload of the split 'test'"):
        evaluate_methods([], methods, SETTINGS, "test")
