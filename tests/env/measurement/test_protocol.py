"""Measurement settles, races, repeats, re-measures, and goes on after an interruption."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, measure, observe, sweep
from poolpilot.env.measurement.steal import StealMeter
from poolpilot.env.measurement.sweep import AGAIN_ROUND, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

MakeSweep = Callable[..., WorkloadSweep]

HUMP = ((1, 100.0), (4, 400.0), (16, 900.0), (64, 300.0))
TUPLES = DEFAULT_GRID.tuples
SETTINGS = MeasurementSettings(
    keep_shares=(0.25, 0.5),
    finalists=2,
    final_repeats=3,
    oracle_repeats=4,
    # Sums of these times are exact, so that windows of the same tuple are alike to the last bit.
    window_s=16.0,
    settle_s=0.25,
    max_settle_s=0.25,
)


def swept(
    noise: float = 0.0, settings: MeasurementSettings = SETTINGS, done: tuple[Measured, ...] = (), seed: int = 1
) -> list[Measured]:
    server = CurveServer(HUMP, noise=noise, seed=seed)
    return sweep(server, TUPLES, Objective(), settings, np.random.default_rng(2), done=done)


def test_window_spans_ticks_of_the_timer() -> None:
    settings = MeasurementSettings(window_s=0.3, window_ticks=2.0)
    assert settings.window_for(PoolTuple(4, 3, 10)) == 0.3
    assert settings.window_for(PoolTuple(4, 3, 500)) == pytest.approx(1.01)
    assert settings.longest_s(PoolTuple(4, 3, 500)) == pytest.approx(1.515 + 1.01)


def test_window_begins_after_rest_and_settling() -> None:
    settings = MeasurementSettings(settle_s=0.5, max_settle_s=0.5, window_s=2.0, rest_s=3.0)
    server = CurveServer(HUMP)
    measured = measure(server, PoolTuple(16, 3, 500), settings)
    assert server.snapshot().time_s == pytest.approx(5.5)
    assert measured.window.duration_s == pytest.approx(2.0)
    assert measured.window.throughput_per_s == pytest.approx(900.0)
    assert measured.settle_s == 0.5
    assert measured.measures["completed"] == pytest.approx(1800.0)


@pytest.mark.parametrize(
    ("shares", "kept", "dropped_s"),
    [
        ((0.02, 0.9), 0.02, 0.0),
        ((0.2, 0.03, 0.9), 0.03, 2.0),
        ((0.2, 0.1, 0.3, 0.9), 0.1, 2.0),
        ((None, 0.9), None, 0.0),
    ],
    ids=["quiet", "disturbed once", "never quiet", "unknown"],
)
def test_disturbed_window_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, shares: tuple[float | None, ...], kept: float | None, dropped_s: float
) -> None:
    shown = iter(shares)
    monkeypatch.setattr(StealMeter, "share", lambda _: next(shown))
    settings = MeasurementSettings(settle_s=0.5, max_settle_s=0.5, window_s=2.0, most_steal=0.05, steal_repeats=2)
    measured = measure(CurveServer(HUMP), PoolTuple(16, 3, 10), settings)
    assert measured.steal_share == kept
    assert measured.settle_s == 0.5 + dropped_s


def test_server_in_virtual_time_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StealMeter, "share", lambda _: 0.9)
    workload = Workload("one", "test", (RequestClass("all", (Step("cpu", us=100.0),)),), connections=2, cpus=1)
    with SimulatedServer(workload) as server:
        assert measure(server, PoolTuple(1, 3, 10), MeasurementSettings(most_steal=0.05)).steal_share is None


def test_replayed_window_has_no_measures(make_sweep: MakeSweep) -> None:
    measured = observe(RecordedServer(make_sweep()), 3.0)
    assert measured.measures == {}
    assert measured.window.duration_s == 3.0


@pytest.mark.parametrize("count", [1, 2, 7, len(TUPLES)])
def test_number_of_windows_is_known_beforehand(count: int) -> None:
    server = CurveServer(HUMP)
    results = sweep(server, TUPLES[:count], Objective(), SETTINGS, np.random.default_rng(0))
    assert len(results) == SETTINGS.most_windows(count)


def test_every_tuple_is_measured_and_losers_are_dropped_early() -> None:
    results = swept()
    rounds = Counter(result.round for result in results)
    assert rounds == {0: len(TUPLES), 1: round(0.25 * len(TUPLES)), 2: 2, 3: 2, 4: 2, AGAIN_ROUND: 4}
    assert {result.core for result in results} == {pool_tuple.core for pool_tuple in TUPLES}


def test_best_size_wins_and_is_measured_afresh() -> None:
    results = swept(noise=0.03)
    again = {result.core for result in results if result.round == AGAIN_ROUND}
    assert len(again) == 1
    assert again.pop()[0] == 16


def test_order_within_a_round_is_drawn() -> None:
    first_round = [result.core for result in swept() if result.round == 0]
    assert first_round != [pool_tuple.core for pool_tuple in TUPLES]


def test_repeats_end_once_the_wanted_error_is_reached() -> None:
    results = swept(settings=SETTINGS.model_copy(update={"wanted_error": 0.01}))
    assert max(result.round for result in results) == 1


@pytest.mark.parametrize("kept", [0, 1, 30, 50, 57, 60])
def test_interrupted_sweep_measures_only_what_is_missing(kept: int) -> None:
    whole = swept()
    resumed = swept(done=tuple(whole[:kept]))
    assert resumed[:kept] == whole[:kept]
    assert Counter((result.round, result.core) for result in resumed) == Counter(
        (result.round, result.core) for result in whole
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kept", [29, 45, 52, 55, 57, 59])
def test_what_was_measured_since_decides_no_round_anew(seed: int, kept: int) -> None:
    """Windows that scatter: survivors of a round were lucky in it, and are judged by that round alone."""
    whole = swept(noise=0.2, seed=seed)
    resumed = swept(noise=0.2, seed=seed, done=tuple(whole[:kept]))
    survivors = [{one.core for one in whole if one.round == number} for number in range(2)]
    again = {one.core for one in resumed if one.round == AGAIN_ROUND}
    assert len(again) == 1
    for number in range(2):
        found = Counter(one.core for one in resumed if one.round == number)
        assert set(found.values()) == {1}
        if {one.core for one in whole[:kept] if one.round == number} == survivors[number]:
            assert set(found) == survivors[number]


def test_every_new_window_is_reported_and_no_old_one() -> None:
    whole = swept()
    reported: list[Measured] = []
    server = CurveServer(HUMP, seed=1)
    rng = np.random.default_rng(2)
    sweep(server, TUPLES, Objective(), SETTINGS, rng, on_measured=reported.append, done=whole[:-3])
    assert [result.round for result in reported] == [AGAIN_ROUND] * 3


def test_tuple_out_of_range_is_refused_before_anything_is_measured() -> None:
    reported: list[Measured] = []
    with pytest.raises(SettingError, match="pool_size is 500"):
        sweep(
            CurveServer(HUMP),
            [*TUPLES, PoolTuple(500, 3, 500)],
            Objective(),
            SETTINGS,
            np.random.default_rng(0),
            on_measured=reported.append,
        )
    assert reported == []


@pytest.mark.parametrize(
    ("tuples", "message"),
    [([], "at least one configuration"), ([PoolTuple(8, 3, 500)], r"must hold the configuration \(4, 3, 500\)")],
)
def test_sweep_that_cannot_be_judged_is_refused(tuples: list[PoolTuple], message: str) -> None:
    objective = Objective(min_share={"all": 0.5})
    with pytest.raises(SettingError, match=message):
        sweep(CurveServer(HUMP), tuples, objective, SETTINGS, np.random.default_rng(0))


def test_reference_that_is_named_is_in_every_round_and_what_floors_are_shares_of() -> None:
    first = TUPLES[-1]
    results = sweep(CurveServer(HUMP), TUPLES, Objective(), SETTINGS, np.random.default_rng(0), reference=first)
    raced = [result for result in results if result.core == first.core and result.round != AGAIN_ROUND]
    assert len(raced) == 5
    assert len(results) <= SETTINGS.most_windows(len(TUPLES), holds_reference=True)
    with pytest.raises(SettingError, match=r"must hold the configuration \(77, 3, 500\)"):
        sweep(
            CurveServer(HUMP),
            TUPLES,
            Objective(),
            SETTINGS,
            np.random.default_rng(0),
            reference=first.with_core((77, 3, 500)),
        )


def test_default_stays_in_the_race_where_classes_have_floors() -> None:
    default = CurveServer(HUMP).knobs.default_tuple()
    for share, windows in ((0.0, 1), (0.5, 5)):
        objective = Objective(min_share={"all": share})
        results = sweep(CurveServer(HUMP), TUPLES, objective, SETTINGS, np.random.default_rng(0))
        raced = [result for result in results if result.core == default.core and result.round != AGAIN_ROUND]
        assert len(raced) == windows


def test_load_begins_anew_under_the_tuple_where_that_is_asked_for() -> None:
    class Offered(CurveServer):
        def begin_load_anew(self) -> None:
            begun.append(self.tuple_in_force().pool_size)

    begun: list[int] = []
    server = Offered(HUMP)
    measure(server, PoolTuple(4, 3, 10), SETTINGS)
    measure(server, PoolTuple(16, 3, 10), SETTINGS, load_anew=True)
    assert begun == [16]
    tuples = [PoolTuple(1, 3, 10), PoolTuple(16, 3, 10)]
    results = sweep(server, tuples, Objective(), SETTINGS, np.random.default_rng(0), load_anew=True)
    assert begun[1:] == [result.core[0] for result in results]


def test_in_virtual_time_windows_end_after_their_requests_and_ticks() -> None:
    classes = (RequestClass("all", (Step("cpu", us=100.0),)),)
    settings = MeasurementSettings(window_s=10.0, window_requests=300)
    with SimulatedServer(Workload("cpu", "test", classes, connections=8, cpus=1)) as server:
        quick = measure(server, PoolTuple(2, 3, 10), settings).window
        slow = measure(server, PoolTuple(2, 3, 500), settings).window
    assert quick.throughput_per_s * quick.duration_s == pytest.approx(300.0)
    assert slow.duration_s == pytest.approx(1.01, rel=1e-3)
    curve = CurveServer(HUMP)
    assert measure(curve, PoolTuple(4, 3, 500), settings).window.duration_s == 10.0
