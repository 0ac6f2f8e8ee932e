"""A planted workload is measured and judged as what it is, and windows hold whole cycles."""

from collections.abc import Mapping
from typing import Any

import pytest

from poolpilot.agent.baselines.static import DefaultPredictor, StaticPredictor
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace
from poolpilot.pipelines.evaluate.stage import Stage
from suite import suite_run
from suite.expectation import Expectation
from suite.judged_cell import judged_cell
from suite.judgement import ADVICE
from suite.suite_cells import SuiteCell, named_cells, suite_cells
from suite.suite_run import (
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


def measured(cell: SuiteCell, adviser: Predictor) -> tuple[CellResult, dict[str, Any]]:
    result = run_suite_cell(cell, adviser, {}, SETTINGS, lambda _: None)
    assert CellResult.from_dict(result.as_dict()) == result
    return result, judged_cell(cell, result)


def test_larger_is_right_where_larger_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, RISING, MORE)
    result, row = measured(cell, StaticPredictor(PoolTuple(4, 3, 500)))
    assert result.default == (2, 3, 500)
    assert result.chosen["reference"][0] == 16
    assert row["came_true"] == "yes"
    advice = row["methods"][ADVICE]
    assert (advice["outcome"], round(advice["difference"]["loss"], 1)) == ("right", -1.0)
    assert row["methods"]["constant_16_3_10"]["outcome"] == "right"


def test_staying_is_wrong_where_larger_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, RISING, MORE)
    _, row = measured(cell, DefaultPredictor())
    assert row["methods"][ADVICE]["outcome"] == "wrong"


def test_direction_that_does_not_come_true_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = planted(monkeypatch, FALLING, MORE)
    _, row = measured(cell, StaticPredictor(PoolTuple(1, 3, 500)))
    assert row["came_true"] == "no"
    assert row["methods"][ADVICE]["outcome"] == "wrong"
    assert row["methods"][ADVICE]["difference"]["loss"] < 0.0


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
    _, row = measured(planted(monkeypatch, EVEN, FLAT), StaticPredictor(PoolTuple(4, 3, 500)))
    assert (row["came_true"], row["methods"][ADVICE]["outcome"]) == ("yes", "right")
    _, row = measured(planted(monkeypatch, FALLING, FLAT), StaticPredictor(PoolTuple(4, 3, 500)))
    assert (row["came_true"], row["methods"][ADVICE]["outcome"]) == ("no", "wrong")


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
