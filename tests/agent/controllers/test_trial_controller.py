"""Any predictor as a controller: trials one after the other, then the best measured is held."""

from dataclasses import replace

import pytest

from poolpilot.agent.baselines.portfolio import Portfolio
from poolpilot.agent.controllers.trial_controller import TrialController
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.workload import RequestClass, Step, Workload

PORTFOLIO = Portfolio([PoolTuple(64, 3, 10), PoolTuple(16, 3, 10), PoolTuple(1, 3, 10)])


@pytest.fixture
def server() -> CurveServer:
    return CurveServer([(1, 100), (16, 1200), (64, 600)], cpus=4)


def sizes_of(server: CurveServer, decisions: int, settle_s: float = 0.0, horizon_s: float = 20.0) -> list[int]:
    measurement = MeasurementSettings(settle_s=settle_s, window_s=1.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), decisions, measurement)
    trace = tune(server, controller, Objective(), period_s=1.0, horizon_s=horizon_s)
    return [step.pool_tuple.pool_size for step in trace.steps if step.duration_s > 0.99]


def test_each_trial_is_measured_and_the_best_again_and_held(server: CurveServer) -> None:
    assert sizes_of(server, decisions=3)[:6] == [4, 64, 16, 1, 16, 16]
    assert server.tuple_in_force().pool_size == 16


def sessions() -> SimulatedServer:
    """Thousands of sessions that pause: too few groups serve them well for a second, until all have come back."""
    page, report = (Step("cpu", us=700.0), Step("wait", us=1200.0, reported=True)), (Step("cpu", us=80_000.0),)
    classes = (
        RequestClass("page", page, share=0.9, think_ms=100.0, target_ms=50.0),
        RequestClass("report", report, share=0.1, think_ms=400.0, target_ms=3000.0, weight=20.0),
    )
    server = SimulatedServer(Workload("sessions", "sessions", classes, connections=8000, cpus=64))
    server.run_for(3.0)
    return server


def test_what_is_good_right_after_a_change_alone_is_not_kept() -> None:
    server, few = sessions(), PoolTuple(4, 3, 10)
    first = server.tuple_in_force()
    objective = Objective.of_classes(server.workload.classes)
    measurement = MeasurementSettings(settle_s=0.2, window_s=0.5)
    controller = TrialController(Portfolio([few]), server.knobs, objective, 1, measurement)
    trace = tune(server, controller, objective)
    at_first = next(step for step in trace.steps if step.pool_tuple.core == few.core and step.duration_s == 0.5)
    assert at_first.value > trace.steps[0].value
    assert server.tuple_in_force() == first
    assert controller.windows[1].pool_tuple.core == few.core
    assert objective.value(controller.windows[1]) < objective.value(controller.windows[0])


def test_what_is_kept_has_been_measured_twice_and_what_was_there_before_once(server: CurveServer) -> None:
    measurement = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 3, measurement)
    trace = tune(server, controller, Objective())
    sizes = [step.pool_tuple.pool_size for step in trace.steps if step.duration_s == pytest.approx(1.0)]
    assert sizes == [4, 64, 16, 1, 16]
    poor = Portfolio([PoolTuple(1, 3, 500)])
    trace = tune(server, TrialController(poor, server.knobs, Objective(), 1, measurement), Objective())
    assert trace.steps[-1].pool_tuple.pool_size == 1
    assert server.tuple_in_force().pool_size == 16


def test_no_more_is_tried_than_may_be_decided(server: CurveServer) -> None:
    assert sizes_of(server, decisions=1)[:4] == [4, 64, 64, 64]


def test_what_settles_is_no_window_that_counts(server: CurveServer) -> None:
    measurement = MeasurementSettings(settle_s=0.5, window_s=1.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 2, measurement)
    tune(server, controller, Objective(), horizon_s=20.0)
    assert [window.duration_s for window in controller.windows] == [1.0, 1.0, 1.0]


def test_requests_of_the_older_tuple_are_given_time_to_leave() -> None:
    slow = CurveServer([(1, 40), (64, 40)], connections=60)
    controller = TrialController(PORTFOLIO, slow.knobs, Objective(), 1, MeasurementSettings(settle_s=0.1, window_s=1.0))
    trace = tune(slow, controller, Objective(), horizon_s=10.0)
    assert [step.duration_s for step in trace.steps][:3] == [1.0, pytest.approx(1.5), 1.0]


def test_it_is_finished_once_the_trials_are_measured(server: CurveServer) -> None:
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 2, MeasurementSettings(settle_s=0.0))
    trace = tune(server, controller, Objective())
    assert controller.finished
    assert [window.pool_tuple.pool_size for window in controller.windows] == [4, 64, 16]
    assert trace.final_tuple.pool_size == 16
    assert "best of 3 measured" in controller.reason


def beside(seed: int) -> SimulatedServer:
    short = RequestClass("short", (Step("cpu", us=100.0),), share=0.9)
    long = RequestClass("long", (Step("cpu", us=100_000.0),), share=0.1)
    return SimulatedServer(Workload("beside", "beside", (short, long), connections=64, cpus=2, seed=seed))


def test_what_a_floor_forbade_is_said_at_the_end() -> None:
    server = beside(1)
    objective = Objective(weights={"long": 0.0}, min_share={"long": 0.9})
    controller = TrialController(
        Portfolio([PoolTuple(32, 3, 10)]), server.knobs, objective, 1, MeasurementSettings(settle_s=0.5, window_s=3.0)
    )
    trace = tune(server, controller, objective)
    assert [window.pool_tuple.pool_size for window in controller.windows] == [2, 32]
    assert trace.final_tuple.pool_size == 32
    assert server.tuple_in_force().pool_size == 2
    assert controller.reason.startswith("(2, 3, 500) is the best of 2 measured; (32, 3, 10) was worth")
    assert "and its floor is 90 %: a min_share of at most" in controller.reason


@pytest.mark.parametrize(
    ("floor", "size", "seconds"),
    [(0.3, 12, [2.0, 2.0]), (0.9, 64, [2.0, 0.5]), (0.0, 8, [0.5, 0.5])],
    ids=["in doubt", "surely broken", "no floor"],
)
def test_where_a_floor_is_in_doubt_windows_are_longer(floor: float, size: int, seconds: list[float]) -> None:
    server, objective = beside(1), Objective(weights={"long": 0.0}, min_share={"long": floor})
    measurement = MeasurementSettings(settle_s=0.1, window_s=0.5, window_ticks=0.0, doubt_windows=4.0)
    portfolio = Portfolio([PoolTuple(size, 3, 500)])
    tune(server, (trials := TrialController(portfolio, server.knobs, objective, 1, measurement)), objective)
    assert [window.duration_s for window in trials.windows] == pytest.approx(seconds)
    server = beside(1)
    never = measurement.model_copy(update={"doubt_windows": 1.0})
    tune(server, (trials := TrialController(portfolio, server.knobs, objective, 1, never)), objective)
    assert [window.duration_s for window in trials.windows] == pytest.approx([0.5, 0.5])


def test_stopped_between_trials_it_recommends_the_best_so_far(server: CurveServer) -> None:
    assert sizes_of(server, decisions=3, horizon_s=2.3) == [4, 64]
    assert server.tuple_in_force().pool_size == 64


def test_what_is_in_force_is_watched_for_as_many_ticks_as_a_trial(server: CurveServer) -> None:
    measurement = MeasurementSettings(settle_s=0.0, window_s=0.4)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 1, measurement)
    tune(server, controller, Objective(), horizon_s=5.0)
    assert [window.duration_s for window in controller.windows] == pytest.approx([1.01, 0.4])


@pytest.mark.parametrize("disturbed", [0, 2, 100])
def test_nothing_is_tried_while_a_table_is_locked(server: CurveServer, disturbed: int) -> None:
    """The first tuple's windows are disturbed so often; what is blamed on a trial otherwise is the lock."""
    measurement = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 1, measurement)
    window, looks = observe(server, 1.0).window, 0
    while controller.suggest().pool_tuple is None:
        lock = (Hindrance("a backup runs"),) if looks < disturbed else ()
        controller.observe(replace(window, disturbances=lock))
        looks += 1
    assert (len(controller.windows), looks) == (1, disturbed + 1)
    assert not controller.windows[0].disturbances


@pytest.mark.parametrize("settle_s", [0.0, 0.5])
def test_a_trial_that_a_backup_disturbs_gives_way_until_it_is_over(server: CurveServer, settle_s: float) -> None:
    measurement = MeasurementSettings(settle_s=settle_s, max_settle_s=settle_s, window_s=1.0, window_ticks=0.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 1, measurement)
    first = server.tuple_in_force()
    shown: list[str] = []
    while not controller.finished:
        trial = controller.suggest()
        tried = trial.pool_tuple or first
        server.apply(tried)
        settling = trial.window_s == settle_s
        backup = (Hindrance("a backup runs"),) if 1 <= len(shown) < 12 and not settling else ()
        controller.observe(replace(observe(server, trial.window_s or 1.0).window, disturbances=backup))
        if settling:
            assert shown[-1] == "first"  # after the first tuple its requests are dropped
        else:
            shown.append("first" if tried == first else "trial")
    # Five looks at the trial, then the first one until a window of it is good, then the trial and its second window.
    assert shown == ["first", *["trial"] * 5, *["first"] * 7, "trial", "trial"]
    assert not any(window.disturbances for window in controller.windows)


def test_waits_for_metadata_locks_that_go_on_may_be_of_the_workload(server: CurveServer) -> None:
    """User locks are counted among them: what only waits tell of keeps nothing from being tried for long."""
    measurement = MeasurementSettings(settle_s=0.0, max_settle_s=0.0, window_s=1.0, window_ticks=0.0)
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 1, measurement)
    looks = 0
    while not controller.finished:
        server.apply(controller.suggest().pool_tuple or server.tuple_in_force())
        window = observe(server, 1.0).window
        waits = {"reported_meta_data_lock_per_request": 20.0 / (window.throughput_per_s * window.duration_s)}
        features = {**window.profile.features, "connections": 64.0, "completed_per_s": window.throughput_per_s}
        profile = replace(window.profile, features=features)
        controller.observe(replace(window, indicators=waits, profile=profile))
        looks += 1
    assert len(controller.windows) == 2
    assert looks == 7 + 6 + 6  # the first tuple, the trial, and what is kept once more


def idle(server: CurveServer) -> Window:
    """A window of a server that nobody sends anything."""
    seen = observe(server, 1.0).window
    features = {**seen.profile.features, "completed_per_s": 0.0}
    return replace(seen, classes={}, profile=replace(seen.profile, features=features))


def test_nothing_is_tried_on_a_server_that_has_nothing_to_do(server: CurveServer) -> None:
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 3, MeasurementSettings(settle_s=0.0))
    looks = 0
    while not controller.finished:
        assert controller.suggest().pool_tuple is None
        controller.observe(idle(server))
        looks += 1
    assert looks == 6
    assert controller.predictions == []
    assert controller.recommend() == server.knobs.default_tuple()
    assert controller.reason == "nobody sends anything: nothing is tried, and (4, 3, 500) stays"


def test_trials_begin_once_somebody_sends_something(server: CurveServer) -> None:
    controller = TrialController(PORTFOLIO, server.knobs, Objective(), 3, MeasurementSettings(settle_s=0.0))
    for _ in range(3):
        controller.observe(idle(server))
    tune(server, controller, Objective(), period_s=1.0, horizon_s=60.0)
    assert server.tuple_in_force().pool_size == 16
    assert len(controller.predictions) == 3
