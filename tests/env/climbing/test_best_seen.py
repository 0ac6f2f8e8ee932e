"""What a climb goes by and ends on, with floors and limits."""

import pytest
from tests.env.conftest import MakeWindow

from poolpilot.env.climbing.best_seen import BestSeen
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

FIRST, FAR = PoolTuple(2, 3, 500), PoolTuple(16, 3, 500)
BESIDE = Objective(weights={"long": 0.0}, min_share={"long": 0.3}, price_of_thread=0.0)


def test_without_floors_a_window_is_worth_its_goodput(make_window: MakeWindow) -> None:
    seen = BestSeen(Objective())
    assert seen.pool_tuple is None
    assert seen.add(make_window({"short": {1.0: 100}}, FIRST), FIRST) == pytest.approx(100.0)
    assert seen.add(make_window({"short": {1.0: 300}}, FAR), FAR) == pytest.approx(300.0)
    assert seen.pool_tuple == FAR


def test_what_breaks_a_floor_is_worth_less_than_what_was_there(make_window: MakeWindow) -> None:
    seen = BestSeen(BESIDE)
    assert seen.add(make_window({"short": {1.0: 100}, "long": {1.0: 100}}, FIRST), FIRST) == pytest.approx(100.0)
    assert seen.add(make_window({"short": {1.0: 900}, "long": {1.0: 10}}, FAR), FAR) < 1.0
    assert seen.pool_tuple == FIRST


def test_floors_are_shares_of_the_window_that_is_given(make_window: MakeWindow) -> None:
    before = make_window({"short": {1.0: 100}, "long": {1.0: 100}}, FIRST)
    poor = make_window({"short": {1.0: 900}, "long": {1.0: 10}}, FAR)
    assert BestSeen(BESIDE).add(poor, FAR) == pytest.approx(900.0)
    assert BestSeen(BESIDE, before).add(poor, FAR) < 1.0


def test_windows_of_one_tuple_are_judged_together(make_window: MakeWindow) -> None:
    """One in which no long request happened to end does not condemn it."""
    seen = BestSeen(BESIDE, make_window({"short": {1.0: 100}, "long": {1.0: 10}}, FIRST))
    seen.add(make_window({"short": {1.0: 900}, "long": {1.0: 7}}, FAR), FAR)
    assert seen.add(make_window({"short": {1.0: 900}}, FAR), FAR) == pytest.approx(900.0)


def test_a_window_without_requests_makes_up_for_no_late_one(make_window: MakeWindow) -> None:
    limited, before = Objective(max_p99_ms={"rare": 100.0}), make_window({"short": {1.0: 100}}, FIRST)
    late, empty = ({"short": {1.0: 900}, "rare": {1000.0: completed}} for completed in (1, 0))
    seen = BestSeen(limited, before)
    seen.add(make_window(late, FAR), FAR)
    for _ in range(9):
        assert seen.add(make_window(empty, FAR), FAR) < 1.0


def test_somebody_elses_wish_begins_anew_without_losing_the_reference(make_window: MakeWindow) -> None:
    seen = BestSeen(BESIDE)
    seen.add(make_window({"short": {1.0: 100}, "long": {1.0: 100}}, FIRST), FIRST)
    assert seen.add(make_window({"short": {1.0: 900}, "long": {1.0: 10}}, FAR), FIRST) < 1.0
    assert seen.pool_tuple == FAR


def test_of_sizes_that_are_not_told_apart_the_smallest_is_named(make_window: MakeWindow) -> None:
    """The best of many noisy means would be a matter of luck."""
    seen, far = BestSeen(Objective(price_of_thread=0.0)), PoolTuple(64, 3, 500)
    for small, large in [(990, 1080), (1090, 1000), (900, 960)]:
        seen.add(make_window({"short": {1.0: small}}, FAR), FAR)
        seen.add(make_window({"short": {1.0: large}}, far), far)
        seen.add(make_window({"short": {1.0: small // 2}}, FIRST), FIRST)
    assert seen.pool_tuple == FAR


def test_a_size_that_is_shown_to_be_better_is_named(make_window: MakeWindow) -> None:
    seen, far = BestSeen(Objective(price_of_thread=0.0)), PoolTuple(64, 3, 500)
    for small, large in [(990, 1280), (1010, 1300), (1000, 1310)]:
        seen.add(make_window({"short": {1.0: small}}, FAR), FAR)
        seen.add(make_window({"short": {1.0: large}}, far), far)
    assert seen.pool_tuple == far


@pytest.mark.parametrize("floor", [0.3, 0.8])
def test_climb_turns_back_where_long_requests_would_fall_below_their_floor(floor: float) -> None:
    short = RequestClass("short", (Step("cpu", us=100.0),), share=0.9)
    long = RequestClass("long", (Step("cpu", us=100_000.0),), share=0.1)
    server = SimulatedServer(Workload("beside", "beside", (short, long), connections=64, cpus=2, seed=1))
    objective = Objective(weights={"long": 0.0}, min_share={"long": floor})
    reference = observe(server, 30.0, settle_s=2.0).window
    climber = spectral_climber(ClimbSettings(period_s=1.0), server.knobs)
    controller = ClimbController(climber, server.tuple_in_force(), objective)
    tune(server, controller, objective, period_s=1.0, horizon_s=120.0)
    window = observe(server, 30.0, settle_s=2.0).window
    assert objective.kept_floors(window, reference)["long"].kept > 0.7 * floor
    assert objective.goodput_per_s(window) > 5.0 * objective.goodput_per_s(reference)
