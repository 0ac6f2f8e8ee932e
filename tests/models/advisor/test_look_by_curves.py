"""A change is advised only where no clear loss is to be feared, and to stay only where little is lost by it."""

import pytest
from tests.models.conftest import without_family

from poolpilot.env.knobs import UNKNOWN_CPUS, Knob, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.response_curves import ResponseCurves


def window_under(pool_size: int, cpus: int = 2) -> tuple[Window, KnobSpace]:
    with CurveServer([(1.0, 500.0), (128.0, 500.0)], cpus=cpus, connections=64) as server:
        server.apply(PoolTuple(pool_size, 3, 500))
        before = server.snapshot()
        server.run_for(5.0)
        return Window.between(before, server.snapshot()), server.knobs


def test_where_known_workloads_disagree_it_says_what_promises_most_and_abstains(curves: ResponseCurves) -> None:
    window, limits = window_under(8)
    prediction = Advisor(Model.of(curves)).predict([window], limits, Objective())
    assert (prediction.verdict, prediction.keeps, prediction.expected_gain) == ("no advice", True, None)
    assert "only trying" in prediction.reasons[-1]


def test_what_every_known_workload_agrees_on_is_advised(curves: ResponseCurves) -> None:
    window, limits = window_under(2)
    prediction = Advisor(Model.of(without_family(curves, "compute"))).predict([window], limits, Objective())
    assert prediction.verdict == "change"
    assert prediction.pool_tuple.pool_size in {32, 64}
    assert prediction.gain_low is not None
    assert prediction.expected_gain is not None
    assert 0.0 < prediction.gain_low <= prediction.expected_gain


def test_what_is_best_already_is_left(curves: ResponseCurves) -> None:
    window, limits = window_under(2)
    prediction = Advisor(Model.of(without_family(curves, "wait"))).predict([window], limits, Objective())
    assert (prediction.verdict, prediction.expected_gain) == ("leave it", 0.0)


def test_unknown_processors_are_asked_for(curves: ResponseCurves) -> None:
    window, limits = window_under(2)
    prediction = Advisor(Model.of(curves)).predict([window], KnobSpace(None, limits.knobs), Objective())
    assert (prediction.verdict, prediction.reasons) == ("no advice", (UNKNOWN_CPUS,))


def test_a_machine_larger_than_any_known_one_is_named(curves: ResponseCurves) -> None:
    window, limits = window_under(2, cpus=64)
    prediction = Advisor(Model.of(curves)).predict([window], limits, Objective())
    assert prediction.verdict == "no advice"
    assert prediction.reasons[0] == "the known workloads ran on 1 to 2 processors, and this server has 64"


def test_curves_of_which_nothing_was_kept_that_could_be_compared_advise_nothing(curves: ResponseCurves) -> None:
    """Before, every workload was as if known, and one that promised most was advised."""
    window, limits = window_under(2)
    alike = without_family(curves, "compute")
    none_kept = tuple(one.model_copy(update={"ratios": ()}) for one in alike.curves)
    blank = ResponseCurves(grid=alike.grid, source=alike.source, curves=none_kept)
    assert Advisor(Model.of(alike)).predict([window], limits, Objective()).verdict == "change"
    prediction = Advisor(Model.of(blank)).predict([window], limits, Objective())
    assert prediction.verdict == "no advice"
    assert prediction.reasons[0].startswith("nothing that this server shows was kept of any known workload")


def test_without_a_window_or_a_configuration_it_is_one_sentence(curves: ResponseCurves) -> None:
    window, _ = window_under(2)
    odd = KnobSpace.of(2, Knob("pool_size", 1, 8, 2, "workers"), Knob("oversubscribe", 7, 9, 7, "threads"))
    with pytest.raises(SettingError, match="at least one window"):
        Advisor(Model.of(curves)).predict([], odd, Objective())
    with pytest.raises(SettingError, match="no configuration of the grid"):
        Advisor(Model.of(curves)).predict([window], odd, Objective())
