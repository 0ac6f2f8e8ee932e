"""The bandit tries what tells workloads apart and ends on the best measured, on any number of processors."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.models.conftest import without_family

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.advisor.trials_by_curves import MIN_IMPROVEMENT
from poolpilot.models.latent.response_curves import ResponseCurves

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


def trying(curves: ResponseCurves) -> Advisor:
    return Advisor(Model.of(curves), Purpose.TRIAL)


def all_but(listed: Sequence[PoolTuple]) -> Callable[[PoolTuple], bool]:
    return lambda one: one not in listed


def server_with_peak(peak: float, cpus: int = 2) -> CurveServer:
    table = [(float(size), 1000.0 * float(np.exp(-0.5 * abs(np.log(size / peak))))) for size in SIZES]
    return CurveServer(table, cpus=cpus, connections=64)


def tried(predictor: Predictor, server: CurveServer, most: int) -> list[int]:
    """Sizes in force, the first included; ends when the predictor names one again."""
    windows = [window_of(server)]
    sizes = [windows[0].pool_tuple.pool_size]
    for _ in range(most):
        named = predictor.predict(windows, server.knobs, Objective()).pool_tuple
        if named.pool_size in sizes:
            sizes.append(named.pool_size)
            break
        server.apply(named)
        windows.append(window_of(server))
        sizes.append(named.pool_size)
    return sizes


def window_of(server: CurveServer, seconds: float = 10.0) -> Window:
    before = server.snapshot()
    server.run_for(seconds)
    return Window.between(before, server.snapshot())


@pytest.mark.parametrize(("peak", "best"), [(2.0, {2}), (32.0, {16, 32, 64}), (64.0, {32, 64})])
def test_few_trials_find_the_kind_of_workload(curves: ResponseCurves, peak: float, best: set[int]) -> None:
    with server_with_peak(peak) as server:
        sizes = tried(trying(curves), server, most=4)
    assert sizes[-1] in best
    assert len(sizes) <= 5


def test_what_is_of_no_use_to_who_asks_is_not_tried_and_keeps_nothing_else_out(curves: ResponseCurves) -> None:
    """Before, a tuner whose operator forbids more than 8 groups was told 64 again and again, and tried nothing else."""
    bandit = trying(curves)
    with server_with_peak(64.0) as server:
        windows = [window_of(server)]
        assert bandit.predict(windows, server.knobs, Objective()).pool_tuple.pool_size > 8
        limits = replace(server.knobs, permits=lambda one: one.pool_size <= 8)
        assert 2 < bandit.predict(windows, limits, Objective()).pool_tuple.pool_size <= 8
        nothing = bandit.predict(windows, replace(server.knobs, permits=lambda _: False), Objective())
    assert (nothing.pool_tuple, nothing.abstained) == (windows[0].pool_tuple, False)


def test_any_number_of_processors_is_served(curves: ResponseCurves) -> None:
    for cpus in (1, 3, 24, 96):
        with server_with_peak(32.0, cpus) as server:
            assert tried(trying(curves), server, most=6)[-1] in range(16, 65)


def test_answers_of_the_workload_beat_what_was_known_before(curves: ResponseCurves) -> None:
    with server_with_peak(2.0) as server:
        windows = [window_of(server)]
        server.apply(PoolTuple(64, 3, 500))
        windows.append(window_of(server))
        prediction = trying(curves).predict(windows, server.knobs, Objective())
    assert prediction.pool_tuple.pool_size <= 4


def test_more_groups_than_connections_are_not_tried(curves: ResponseCurves) -> None:
    with CurveServer([(1.0, 100.0), (64.0, 400.0)], cpus=2, connections=6) as server:
        assert max(tried(trying(curves), server, most=8)) <= 8


def test_another_price_of_a_thread_is_paid(curves: ResponseCurves) -> None:
    with server_with_peak(32.0) as server:
        window = window_of(server)
        dear = Objective(price_of_thread=0.6)
        predictor = trying(without_family(curves, "compute"))
        cheap_size = predictor.predict([window], server.knobs, Objective()).pool_tuple.pool_size
        dear_size = predictor.predict([window], server.knobs, dear).pool_tuple.pool_size
    assert dear_size < cheap_size


def test_prediction_needs_a_window(curves: ResponseCurves) -> None:
    with pytest.raises(SettingError, match="at least one window"):
        trying(curves).predict([], KnobSpace.stock(2), Objective())


def test_same_windows_get_the_same_answer(curves: ResponseCurves) -> None:
    with server_with_peak(32.0) as server:
        windows: Sequence[Window] = [window_of(server)]
        first, second = (trying(curves).predict(windows, server.knobs, Objective()) for _ in range(2))
    assert first == second


def test_on_a_machine_larger_than_any_known_one_it_tries_and_says_so(curves: ResponseCurves) -> None:
    beyond = "the known workloads ran on 1 to 2 processors, and this server has 96"
    bandit = trying(curves)
    with server_with_peak(32.0, cpus=96) as server:
        windows = [window_of(server)]
        trial = bandit.predict(windows, server.knobs, Objective())
        assert (trial.abstained, trial.reasons[1:]) == (False, (beyond,))
        while (end := bandit.predict(windows, server.knobs, Objective())).improvement is not None:
            server.apply(end.pool_tuple)
            windows.append(window_of(server))
    assert end.reasons[1:] == (beyond,)


def test_curves_without_looks_are_tried_by_their_answers_alone(curves: ResponseCurves) -> None:
    blank = [one.model_copy(update={"ratios": ()}) for one in curves.curves]
    library = ResponseCurves(grid=curves.grid, source=curves.source, curves=tuple(blank))
    with server_with_peak(2.0) as server:
        assert tried(trying(library), server, most=4)[-1] == 2


def test_without_the_processors_it_abstains(curves: ResponseCurves) -> None:
    with server_with_peak(32.0) as server:
        prediction = trying(curves).predict([window_of(server)], KnobSpace(None, server.knobs.knobs), Objective())
    assert (prediction.verdict, prediction.reasons) == ("no advice", (UNKNOWN_CPUS,))


def test_a_trial_says_what_it_is_expected_to_take_off_and_the_end_does_not(curves: ResponseCurves) -> None:
    with server_with_peak(32.0) as server:
        windows = [window_of(server)]
        bandit = trying(curves)
        trial = bandit.predict(windows, server.knobs, Objective())
        assert trial.improvement is not None
        assert MIN_IMPROVEMENT <= trial.improvement <= 1.0
        while (end := bandit.predict(windows, server.knobs, Objective())).improvement is not None:
            server.apply(end.pool_tuple)
            windows.append(window_of(server))
    assert end.reasons[0].startswith(f"{end.pool_tuple} is the best of {len(windows)} measured")


def test_library_of_a_grid_without_multiples_of_the_processors_is_served(curves: ResponseCurves) -> None:
    """Before, it was taken, and every prediction from it failed: it had no reference column."""
    grid = curves.grid.model_copy(update={"multiples": ()})
    short = [one.model_copy(update={"log_worth": one.log_worth[: len(grid)], "ratios": ()}) for one in curves.curves]
    library = ResponseCurves(grid=grid, source=curves.source, curves=tuple(short))
    with server_with_peak(32.0) as server:
        assert tried(trying(library), server, most=4)[-1] in range(16, 65)


def of_mariadb(window: Window, waits: float) -> Window:
    """The same, as of a MariaDB whose statements wait so often for rows."""
    return replace(window, server_kind="mariadb", indicators={"row_lock_waits_per_request": waits})


def test_fewer_groups_are_the_first_trial_where_rows_are_fought_over(curves: ResponseCurves) -> None:
    bandit = Advisor(Model.of(curves), Purpose.WARM_START)
    with server_with_peak(1.0) as server:
        calm, fought = (of_mariadb(window_of(server), waits) for waits in (0.0, 0.3))
        by_curves = bandit.predict([calm], server.knobs, Objective())
        assert by_curves.pool_tuple.core != (1, 3, 500)
        assert trying(curves).predict([fought], server.knobs, Objective()) == by_curves
        named = bandit.predict([fought], server.knobs, Objective())
        assert (named.pool_tuple.core, named.verdict) == ((1, 3, 500), "change")
        assert "0.30 times for rows" in named.reasons[0]
        server.apply(named.pool_tuple)
        second = bandit.predict([fought, of_mariadb(window_of(server), 0.3)], server.knobs, Objective())
    assert second.model_digest == named.model_digest == curves.digest
    assert second.expected_gain is not None  # by the curves, whatever the first trial has shown


def test_further_candidates_follow_the_first_and_each_may_be_named_alone(curves: ResponseCurves) -> None:
    with server_with_peak(32.0) as server:
        windows = [window_of(server)]
        ranking = trying(curves).rank(windows, server.knobs, Objective())
        assert ranking.first == trying(curves).predict(windows, server.knobs, Objective())
        named = [each.pool_tuple for each in ranking.candidates]
        assert 1 < len(set(named)) == len(named) <= 3
        for place, after in enumerate(named[1:], 1):
            limits = replace(server.knobs, permits=all_but(named[:place]))
            assert trying(curves).predict(windows, limits, Objective()).pool_tuple == after
        assert ranking.silence is None


def test_three_constants_are_what_is_tried_where_nobody_knows_the_server(curves: ResponseCurves) -> None:
    """Who has a few trials to spend tries them; who weighs each keeps silent, as who only observes."""
    with server_with_peak(32.0) as server:
        limits, windows = KnobSpace(None, server.knobs.knobs), [window_of(server)]
        for purpose in (Purpose.ADVICE, Purpose.TRIAL):
            silent = Advisor(Model.of(curves), purpose).rank(windows, limits, Objective())
            assert (silent.candidates, silent.silence) == ((), UNKNOWN_CPUS)
        warm, named = Advisor(Model.of(curves), Purpose.WARM_START), list[PoolTuple]()
        while (told := warm.predict(windows, limits, Objective())).pool_tuple not in named:
            assert "constants that lose least over all known workloads" in told.reasons[0]
            named.append(told.pool_tuple)
            server.apply(told.pool_tuple)
            windows.append(window_of(server))
        backed_up = replace(windows[0], disturbances=(Hindrance("a backup runs"),))
        assert warm.predict([backed_up], limits, Objective()).abstained
    assert [each.pool_size for each in named] == [32, 64]  # the third is in force
    assert told.reasons == (f"{told.pool_tuple} is the best of {len(windows)} measured",)
    assert told.pool_tuple == Objective().best(windows).pool_tuple
