"""A planted workload is measured and judged as what it is, and windows hold whole cycles."""

from collections.abc import Mapping

import pytest

from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.suite.expectation import Expectation
from poolpilot.lab.suite.suite_cells import SuiteCell, named_cells, suite_cells
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.evaluate.suite import suite_run
from poolpilot.pipelines.evaluate.suite.suite_report import SuiteReport
from poolpilot.pipelines.evaluate.suite.suite_run import (
    ADVICE,
    CellResult,
    SuiteRunSettings,
    run_suite_cell,
    whole_cycles,
)

QUICK = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0, keep_shares=(0.5,), final_repeats=1)
PAIRED = PairedSettings(measurement=QUICK, least_rounds=6, most_rounds=6)
SETTINGS = SuiteRunSettings(
    look_s=1.0,
    live=LiveRunSettings(
        grid=MachineGrid(sizes=(1, 2, 4, 16), multiples=(), oversubscribes=(3,)),
        sweep=QUICK,
        period_s=1.0,
        paired=PAIRED,
    ),
    pace=MariadbPace(budget_s=4.0),
)
MORE = Expectation("change", "l", "w", "s", pool_size="up", timer_interval_ms="down")
FEWER = Expectation("change", "l", "w", "s", pool_size="down")
FLAT = Expectation("flat", "l", "w", "s")

RISING = {1: 50.0, 2: 100.0, 4: 200.0, 16: 800.0, 128: 800.0}
EVEN = dict.fromkeys(RISING, 500.0)
FALLING = {1: 900.0, 2: 500.0, 4: 250.0, 16: 60.0, 128: 10.0}


def planted(monkeypatch: pytest.MonkeyPatch, per_s: Mapping[int, float], expectation: Expectation) -> SuiteCell:
    """A workload of the suite on a curve instead of a test server."""
    cell = suite_cells(draws=1)[0]
    table = list(per_s.items())

    def stage(workload: object, place: object) -> Stage:  # noqa: ARG001
        def open_server() -> CurveServer:
            return CurveServer({(3, 500): table, (3, 10): table}, cpus=2, noise=0.005, seed=3)

        return Stage(cell.workload.name, cell.workload.family, 0, cell.workload.objective, open_server)

    monkeypatch.setattr(suite_run, "lab_stage", stage)
    return SuiteCell(cell.workload, expectation, sealed=False)


def measured(cell: SuiteCell, adviser: Predictor) -> tuple[CellResult, SuiteReport]:
    result = run_suite_cell(cell, adviser, {}, SETTINGS, lambda _: None)
    assert CellResult.from_dict(result.as_dict()) == result
    return result, SuiteReport([(cell, result)], "short")


def test_larger_is_right_where_larger_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, RISING, MORE)
    result, report = measured(cell, StaticPredictor(PoolTuple(4, 3, 500)))
    assert result.default == (2, 3, 500)
    assert result.chosen["reference"][0] == 16
    assert report.truth(cell, result) == "yes"
    advice = report.judgement(cell, result, ADVICE)
    assert (advice.outcome, round(advice.difference.loss, 1)) == ("right", -1.0)
    assert report.statistics("constant_16_3_10")["change_right"] == 1


def test_staying_is_wrong_where_larger_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, RISING, MORE)
    result, report = measured(cell, DefaultPredictor())
    assert report.judgement(cell, result, ADVICE).outcome == "wrong"


def test_direction_that_does_not_come_true_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, FALLING, MORE)
    result, report = measured(cell, StaticPredictor(PoolTuple(1, 3, 500)))
    assert report.truth(cell, result) == "no"
    assert report.judgement(cell, result, ADVICE).outcome == "wrong"
    assert report.judgement(cell, result, ADVICE).difference.loss < 0.0


def test_reference_that_a_constant_beats_which_was_not_swept_is_no_fault_of_the_sweep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sweep has not seen what is best: sizes 1 to 4 alone."""
    cell = planted(monkeypatch, RISING, MORE)
    live = SETTINGS.live.model_copy(update={"grid": SETTINGS.live.grid.model_copy(update={"sizes": (1, 2, 4)})})
    settings = SETTINGS.model_copy(update={"live": live})
    result = run_suite_cell(cell, DefaultPredictor(), {}, settings, lambda _: None)
    assert result.live.censored is None
    assert result.live.run_of("constant_16_3_10").value > result.live.run_of("reference").value


def test_flat_is_flat_and_what_loses_there_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, EVEN, FLAT)
    result, report = measured(cell, StaticPredictor(PoolTuple(4, 3, 500)))
    assert report.truth(cell, result) == "yes"
    assert report.judgement(cell, result, ADVICE).outcome == "right"
    falling = planted(monkeypatch, FALLING, FLAT)
    result, report = measured(falling, StaticPredictor(PoolTuple(4, 3, 500)))
    assert report.truth(falling, result) == "no"
    assert report.judgement(falling, result, ADVICE).outcome == "wrong"
    found = report.as_dict()["methods"][ADVICE]
    assert (found["flat"], found["flat_right"], found["flat_wrong"], found["change"], found["stay"]) == (1, 0, 1, 0, 0)
    assert found["flat_true"] == 0
    assert report.as_dict()["methods_sealed"][ADVICE]["flat"] == 0


def test_windows_hold_whole_cycles_of_a_load_that_repeats_itself() -> None:
    shifting = named_cells(["shifting"], suite_cells(draws=1))[0].workload
    settings = whole_cycles(SuiteRunSettings(), shifting.cycle_s)
    for seconds in (
        settings.look_s,
        settings.live.sweep.window_s,
        settings.live.paired.measurement.window_s,
        settings.live.period_s,
    ):
        assert seconds == pytest.approx(shifting.cycle_s)
    assert settings.live.budget_s >= settings.look_s
    even, stated = whole_cycles(SuiteRunSettings(), 0.0), SuiteRunSettings()
    assert (even.look_s, even.live.sweep, even.live.paired) == (stated.look_s, stated.live.sweep, stated.live.paired)
    assert even.live.budget_s == stated.pace.budget_s
    assert whole_cycles(SuiteRunSettings(), 0.4).live.paired.measurement.window_s == pytest.approx(1.2)
