"""Several knobs are climbed together, inside the server's limits and the useful ranges."""

import math
from dataclasses import replace

import pytest

from poolpilot.env.climbing.knob_climb import USEFUL, KnobClimbController, climb_limits
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.knobs import CORE_KNOBS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
OVERSUBSCRIBES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
TIMERS_MS = (1, 3, 10, 20, 30, 45, 60, 90, 120, 180, 250, 350, 500, 700, 1000)
SETTINGS = ClimbSettings()
OBJECTIVE = Objective()


def arch(value: float, optimum: float, curvature: float) -> float:
    return 1.0 / (1.0 + curvature * math.log(value / optimum) ** 2)


def surface(pool_size: int, oversubscribe: int, timer_ms: int) -> float:
    """Requests a second: 1000 at (24, 8, 60), fewer the farther away."""
    return 1000.0 * arch(pool_size, 24, 0.5) * arch(oversubscribe, 8, 0.3) * arch(timer_ms, 60, 0.2)


def opened(initial: PoolTuple | None = None) -> CurveServer:
    tables = {
        (oversubscribe, timer_ms): [(size, surface(size, oversubscribe, timer_ms)) for size in SIZES]
        for oversubscribe in OVERSUBSCRIBES
        for timer_ms in TIMERS_MS
    }
    return CurveServer(tables, initial=initial)


def controller(
    server: CurveServer, names: tuple[str, ...] = CORE_KNOBS, ranges: dict[str, tuple[int, int]] | None = None
) -> KnobClimbController:
    return KnobClimbController(SETTINGS, server.knobs, server.tuple_in_force(), OBJECTIVE, names, ranges)


def climbed(server: CurveServer, climbing: KnobClimbController, windows: int = 400) -> TuningTrace:
    return tune(server, climbing, OBJECTIVE, period_s=SETTINGS.period_s, horizon_s=windows * SETTINGS.period_s)


def with_knob(name: str, *, restart_only: bool = False, per_session: bool = False) -> KnobSpace:
    stock = KnobSpace.stock(4)
    changed = replace(stock.knobs[name], restart_only=restart_only, per_session=per_session)
    return KnobSpace(stock.cpus, {**stock.knobs, name: changed})


def test_all_knobs_come_to_the_optimum_together() -> None:
    server = opened()
    climbing = controller(server)
    trace = climbed(server, climbing)
    assert climbing.climber.mode == "OPTIMIZED"
    assert surface(*trace.steps[0].pool_tuple.core) < 500.0
    assert surface(*trace.final_tuple.core) >= 950.0


@pytest.mark.parametrize(
    "names", [("pool_size",), ("pool_size", "oversubscribe"), ("pool_size", "timer_interval_ms"), ("oversubscribe",)]
)
def test_only_the_named_knobs_move(names: tuple[str, ...]) -> None:
    start = PoolTuple(4, 3, 500, create_thread_on_wait=False, idle_timeout_s=5.0)
    server = opened(start)
    trace = climbed(server, controller(server, names), windows=120)
    tried = {name: {step.pool_tuple.as_dict()[name] for step in trace.steps} for name in start.as_dict()}
    assert all(len(tried[name]) > 1 for name in names)
    assert all(tried[name] == {value} for name, value in start.as_dict().items() if name not in names)


def test_knobs_keep_inside_the_useful_ranges_and_those_of_the_server() -> None:
    climbing_out = [
        [(size, float(size * oversubscribe * timer_ms)) for size in SIZES]
        for oversubscribe, timer_ms in ((1, 1), (1, 1000), (32, 1), (32, 1000))
    ]
    pairs = ((1, 1), (1, 1000), (32, 1), (32, 1000))
    for start in (PoolTuple(100, 30, 900), PoolTuple(2, 2, 4)):
        server = CurveServer(dict(zip(pairs, climbing_out, strict=True)), initial=start)
        for step in climbed(server, controller(server), windows=150).steps:
            assert 1 <= step.pool_tuple.pool_size <= 128
            for name, (low, high) in USEFUL.items():
                assert low <= getattr(step.pool_tuple, name) <= high


@pytest.mark.parametrize(("most_threads", "highest"), [(None, 32), (65_520, 32), (1280, 9), (100, 3)])
def test_a_climb_asks_for_no_more_threads_than_there_are(most_threads: int | None, highest: int) -> None:
    space = replace(KnobSpace.stock(2), most_threads=most_threads)
    limits = climb_limits(CORE_KNOBS, space, PoolTuple(2, 3, 500), {})
    assert limits == [(1, 128), (1, highest), (1, 1000)]


def test_ranges_that_are_given_replace_the_useful_ones_and_the_server_narrows_them() -> None:
    server = opened(PoolTuple(4, 3, 500))
    given = {"pool_size": (3, 5000), "oversubscribe": (2, 5), "timer_interval_ms": (400, 600)}
    trace = climbed(server, controller(server, ranges=given))
    cores = [step.pool_tuple.core for step in trace.steps]
    lows, highs = zip(*((min(values), max(values)) for values in zip(*cores, strict=True)), strict=True)
    assert all(low >= least for low, least in zip(lows, (3, 2, 400), strict=True))
    assert all(high <= most for high, most in zip(highs, (128, 5, 600), strict=True))


def test_start_outside_a_range_is_refused_with_the_knobs_and_the_tuple() -> None:
    server = opened(PoolTuple(4, 40, 500))
    with pytest.raises(SettingError, match=r"cannot climb pool_size, oversubscribe, timer_interval_ms from \(4, 40, "):
        controller(server)
    assert controller(server, ranges={"oversubscribe": (1, 100)}).climber.mode == "USUAL"


@pytest.mark.parametrize("name", CORE_KNOBS)
def test_knob_that_needs_a_restart_is_refused_by_name(name: str) -> None:
    space = with_knob(name, restart_only=True)
    with pytest.raises(SettingError, match=f"{name} needs a restart"):
        KnobClimbController(SETTINGS, space, space.default_tuple(), OBJECTIVE)


@pytest.mark.parametrize("name", CORE_KNOBS)
def test_knob_of_each_session_is_refused_by_name(name: str) -> None:
    space = with_knob(name, per_session=True)
    with pytest.raises(SettingError, match=f"{name} belongs to each session"):
        KnobClimbController(SETTINGS, space, space.default_tuple(), OBJECTIVE)


def test_knob_that_is_not_climbed_may_need_a_restart() -> None:
    space = with_knob("timer_interval_ms", restart_only=True)
    names = ("pool_size", "oversubscribe")
    climbing = KnobClimbController(SETTINGS, space, space.default_tuple(), OBJECTIVE, names)
    assert len(climbing.climber.values) == 2


def test_no_knobs_are_refused() -> None:
    with pytest.raises(SettingError, match="one to four knobs"):
        controller(opened(), ())


def test_price_is_that_of_a_thread_group_and_of_no_other_knob() -> None:
    dear = Objective(price_of_thread=0.3)
    server = CurveServer([(size, 1000.0) for size in SIZES], initial=PoolTuple(64, 8, 60))
    climbing = KnobClimbController(SETTINGS, server.knobs, server.tuple_in_force(), dear)
    final = tune(server, climbing, dear, period_s=0.1, horizon_s=40.0).final_tuple
    assert final.pool_size <= 8
    assert final.core[1:] == (8, 60)


def test_reason_is_a_sentence_at_every_step() -> None:
    server = opened()
    climbing = controller(server)
    reasons = [climbing.reason]
    tune(server, climbing, OBJECTIVE, period_s=0.1, horizon_s=30.0, on_step=lambda _: reasons.append(climbing.reason))
    assert reasons[0] == "starts cold"
    assert len(set(reasons)) > 3
    assert all(len(reason.split()) >= 2 and reason == reason.strip() for reason in reasons)


def test_records_call_the_knobs_by_their_names() -> None:
    server = opened()
    climbing = controller(server)
    trace = climbed(server, climbing, windows=60)
    log = climbing.log()
    assert [record["sample"] for record in log] == list(range(61))
    assert log[-1] == climbing.latest
    assert climbing.names == tuple(log[0]["knobs"]) == CORE_KNOBS
    for record, step in zip(log[1:], trace.steps, strict=True):
        assert tuple(state["value"] for state in record["knobs"].values()) == step.pool_tuple.core
        assert record["throughput"] == pytest.approx(step.goodput_per_s)
    assert "changed from outside" not in {record["reason"][:20] for record in log}


def test_windows_last_as_long_as_the_settings_say_and_settings_change_while_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = opened()
    climbing = controller(server)
    monkeypatch.setattr(climbing, "recommend", lambda: climbing.suggest().pool_tuple)  # the run goes on
    assert climbing.climber.period_s == climbing.settings.hcm_period == SETTINGS.period_s
    climbed(server, climbing, windows=30)
    climbing.adopt(ClimbSettings(period_s=0.5, price_of_thread=0.9))
    (step,) = tune(server, climbing, OBJECTIVE, period_s=SETTINGS.period_s, horizon_s=0.5).steps
    assert step.duration_s == pytest.approx(climbing.climber.period_s) == 0.5
    assert climbing.reason == "the settings have changed"
    assert tune(server, climbing, OBJECTIVE, period_s=0.5, horizon_s=150.0).final_tuple.pool_size < 16


def test_settings_that_are_refused_leave_the_old_ones() -> None:
    climbing = controller(opened())
    with pytest.raises(SettingError, match="the value of hcm_min_period"):
        climbing.adopt(ClimbSettings(period_s=2.0, longest_period_s=1.0))
    assert climbing.settings.as_dict() == SETTINGS.native().as_dict()


def test_tuple_that_somebody_else_sets_is_where_it_starts_again() -> None:
    server = opened()
    climbing = controller(server)
    climbed(server, climbing)
    forced = server.apply(PoolTuple(60, 2, 200))
    step = climbed(server, climbing, windows=1).steps[0]
    assert step.pool_tuple == forced
    assert climbing.climber.mode == "USUAL"
    assert "changed from outside" in climbing.reason
    assert climbing.recommend() == forced, "what was measured before is no reason to leave what somebody wants"
    asked = climbing.suggest().pool_tuple
    assert asked is not None
    assert all(0.5 * theirs <= ours <= theirs for ours, theirs in zip(asked.core, forced.core, strict=True))
    assert surface(*climbed(server, climbing).final_tuple.core) >= 950.0


def test_live_pool_swings_every_knob_and_stays_in_its_limits() -> None:
    steps = (Step("cpu", us=100.0), Step("wait", us=400.0))
    workload = Workload("live", "test", (RequestClass("all", steps),), connections=16, cpus=1)
    with NativeServer(workload) as server:
        settings = ClimbSettings(period_s=0.05)
        climbing = KnobClimbController(settings, server.knobs, server.tuple_in_force(), OBJECTIVE)
        trace = tune(server, climbing, OBJECTIVE, period_s=0.05, horizon_s=40 * 0.05)
    tuples = [step.pool_tuple for step in trace.steps]
    for name, (low, high) in {"pool_size": (1, 128), **USEFUL}.items():
        values = {int(getattr(pool_tuple, name)) for pool_tuple in tuples}
        assert len(values) > 1
        assert low <= min(values)
        assert max(values) <= high
    assert climbing.reason
