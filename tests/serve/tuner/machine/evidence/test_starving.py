"""Long statements keep their share of the rows read, whatever a trial does for the others."""

import math
from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.evidence.starving import (
    falls_clearly,
    rows_fall,
    rows_noise,
    starved_before,
    starves,
)
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(32, 3, 500)


def reads(rows_per_s: float | None) -> Reading:
    return Reading(goodput_per_s=1000.0, throughput_per_s=1000.0, seconds=10.0, rows_read_per_s=rows_per_s)


def rows_trial(before: float | None, tried: float | None, lost: float = 0.0, noise: float = 0.01) -> PairedTrial:
    trial = PairedTrial(
        before=INITIAL, candidate=FAR, noise=0.02, befores=(reads(before),), rows_lost=lost, rows_noise=noise
    )
    return trial.with_reading(reads(tried))


def scanning(pool_tuple: PoolTuple, _at_s: float = 0.0) -> float:
    """Rows read a second where more groups take from the scans."""
    return float(1e6 * (INITIAL.pool_size / pool_tuple.pool_size) ** 0.85)


@pytest.mark.parametrize(
    ("before", "tried", "lost", "starved"),
    [
        (1e6, 0.31e6, 0.0, False),
        (1e6, 0.29e6, 0.0, True),
        (1e6, 0.6e6, math.log(1.0 / 0.6), False),
        (1e6, 0.6e6, math.log(1.0 / 0.4), True),
        (1e6, 1.1e6, math.log(1.0 / 0.2), False),
        (None, 1e6, 0.0, False),
        (1e6, None, 0.0, False),
    ],
    ids=["kept", "broken", "kept over two steps", "broken by the second", "more again", "unknown", "lost from sight"],
)
def test_long_statements_must_not_starve(before: float | None, tried: float | None, lost: float, starved: bool) -> None:
    said = starves(rows_trial(before, tried, lost), 0.3)
    assert (said is not None) == starved
    if said is not None:
        assert "of the rows that were read at first, and their floor is 30 %" in said


def test_nothing_starves_where_there_is_no_floor() -> None:
    assert starves(rows_trial(1e6, 1.0), 0.0) is None
    assert starved_before(rows_trial(1.0, 1e6), 0.0) is None


def test_windows_that_a_candidate_has_stood_count_among_its_rows() -> None:
    trial = rows_trial(1e6, 0.5e6)
    assert rows_fall(trial) == pytest.approx(math.log(2.0))
    assert rows_fall(trial, [reads(0.125e6)]) == pytest.approx(math.log(4.0))
    assert starves(trial, 0.3) is None
    assert starves(trial, 0.3, [reads(0.125e6)]) is not None


def test_what_scatters_as_much_by_itself_is_no_fall() -> None:
    assert not falls_clearly(rows_trial(1e6, 0.2e6, noise=1.0))
    assert falls_clearly(rows_trial(1e6, 0.2e6))
    assert starves(rows_trial(1e6, 0.2e6, noise=1.0), 0.3) is None


def test_scatter_is_that_of_the_windows_before_or_assumed_where_they_are_few() -> None:
    assert rows_noise([reads(1e6), reads(2e6), reads(1e6)], 3) == pytest.approx(math.log(2.0) / math.sqrt(2.0))
    assert rows_noise([reads(1e6), reads(1e6)], 3) == 0.03
    assert rows_noise([reads(1e6), reads(None)], 2) == 0.03


def test_steps_end_where_long_statements_would_starve(drive: MakeDrive) -> None:
    tuner = drive(rising, rows=scanning, wanted=FAR, noise=0.01)
    tuner.run(100)
    assert tuner.memory.incumbent == PoolTuple(8, 3, 500)
    assert any("leaves 17 % of the rows that were read at first" in each.reason for each in tuner.decisions)
    tuner = drive(rising, rows=scanning, wanted=FAR, noise=0.01, rules=rules(min_rows_share=0.0))
    tuner.run(100)
    assert tuner.memory.incumbent.pool_size >= 16


def test_what_starved_them_is_not_tried_with_a_shorter_stall_limit(drive: MakeDrive) -> None:
    tuner = drive(rising, rows=scanning, wanted=FAR, noise=0.01)
    tuner.run(200)
    assert {where.timer_interval_ms for where, _ in tuner.seen} == {500}


def test_scans_that_join_under_a_larger_pool_bring_back_what_was_found_at_first(drive: MakeDrive) -> None:
    joined_s = [math.inf]

    def throughput(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) * (0.5 if at_s >= joined_s[-1] else 1.0)

    def rows(pool_tuple: PoolTuple, at_s: float) -> float:
        return scanning(pool_tuple) if at_s >= joined_s[-1] else 1e3

    tuner = drive(throughput, rows=rows, wanted=PoolTuple(16, 3, 500), noise=0.01)
    tuner.run(200)
    assert tuner.memory.incumbent == PoolTuple(16, 3, 500)
    joined_s.append(tuner.at_s)
    tuner.run(200)
    assert any("long statements starve under it" in each.reason for each in tuner.decisions)
    assert scanning(tuner.memory.incumbent) >= 0.3 * scanning(INITIAL)


def test_one_report_in_one_window_brings_nothing_back(drive: MakeDrive) -> None:
    joined_s, reports = [math.inf], [0]

    def throughput(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) * (4.0 if at_s >= joined_s[-1] else 1.0)

    def rows(pool_tuple: PoolTuple, at_s: float) -> float:
        reports[0] += pool_tuple == INITIAL and at_s >= joined_s[-1]
        return 1e6 if pool_tuple == INITIAL and reports[0] == 1 else 1e5

    tuner = drive(throughput, rows=rows, wanted=PoolTuple(16, 3, 500), noise=0.01)
    tuner.run(200)
    joined_s.append(tuner.at_s)
    tuner.run(200)
    assert reports[0] >= 2, "what was found at first was tried, for more than a window"
    assert tuner.memory.incumbent == PoolTuple(16, 3, 500)


def test_what_a_tuple_took_from_them_ends_with_it(drive: MakeDrive) -> None:
    fell = [1.0]
    tuner = drive(lambda where, at_s: rising(where, at_s) * fell[-1], rows=scanning, wanted=PoolTuple(4, 3, 500))
    while tuner.memory.incumbent == INITIAL:
        tuner.turn()
    tuner.until(State.HOLD)
    assert tuner.memory.rows_lost == pytest.approx(0.85 * math.log(2.0))
    fell.append(0.5)
    tuner.until(State.ROLL_BACK, most=20)
    assert tuner.memory.incumbent == INITIAL
    assert (tuner.memory.rows_lost, tuner.memory.risen) == (0.0, 0.0)


def test_verdict_that_falls_on_a_window_of_before_blames_what_was_tried(drive: MakeDrive) -> None:
    dented = {0: 1.0}

    def rows(pool_tuple: PoolTuple, _at_s: float) -> float:
        if pool_tuple == INITIAL:
            return 1e6 * dented[0]
        dented[0] = 1.15
        return 0.31e6

    tuner = drive(rising, rows=rows, wanted=FAR)
    tuner.until(State.ROLL_BACK)
    assert tuner.observations[-1].in_force == INITIAL
    assert tuner.turn().state is State.COOL_DOWN
    assert len(tuner.memory.roll_backs_s) == 1
    assert tuner.memory.workload == 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("scatter", "kept"), [(0.2, 0.7), (0.3, 0.6)])
def test_falls_that_chance_explains_one_by_one_do_not_come_to_starving(
    drive: MakeDrive, scatter: float, kept: float, seed: int
) -> None:
    """The floor is 0.3; a step more than is seen may be lost, as each is of a few windows."""

    def rows(pool_tuple: PoolTuple, _at_s: float) -> float:
        return float(1e6 * kept ** math.log2(pool_tuple.pool_size / INITIAL.pool_size))

    tuner = drive(
        lambda where, _at_s: 100.0 * where.pool_size**0.7,
        rows=rows,
        rows_noise=scatter,
        wanted=PoolTuple(128, 3, 500),
        noise=0.01,
        seed=seed,
    )
    tuner.run(200)
    assert rows(tuner.memory.incumbent, 0.0) / 1e6 >= 0.3 * kept


@pytest.mark.parametrize("seed", range(8))
def test_reports_that_come_and_go_do_not_pass_for_starving(drive: MakeDrive, seed: int) -> None:
    tuner = drive(rising, wanted=PoolTuple(16, 3, 500), noise=0.01, seed=seed)
    tuner.rows = lambda _where, _at_s: 1e6 if tuner.rng.random() < 0.5 else 2e3
    tuner.run(200)
    assert not any("starve" in each.reason for each in tuner.decisions)
    assert tuner.memory.incumbent == PoolTuple(16, 3, 500)


@pytest.mark.parametrize("seed", range(12))
def test_rows_that_scatter_do_not_pass_for_a_roll_back_that_has_helped(drive: MakeDrive, seed: int) -> None:
    load = [1.0]

    def flat(_where: PoolTuple, _at_s: float) -> float:
        return 1000.0 * load[-1]

    tuner = drive(flat, rows=flat, rows_noise=0.15, seed=seed, wanted=PoolTuple(4, 3, 500))
    tuner.until(State.TRIAL)
    load.append(0.4)
    tuner.run(12)
    assert tuner.memory.roll_backs_s == ()


def test_falling_pool_is_taken_back_for_its_goodput_first(drive: MakeDrive) -> None:
    tuner = drive(falling, rows=scanning, wanted=FAR)
    tuner.until(State.ROLL_BACK)
    assert "completes" in tuner.decision.reason
    assert tuner.memory.starved_by is None
