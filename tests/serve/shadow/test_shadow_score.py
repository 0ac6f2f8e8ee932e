"""When a challenger may take over: by what was measured, by the curves, and with how many decisions."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import stdtrit

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.commands.tune.account_table import score_line
from poolpilot.serve.shadow.shadow_score import LEAST_QUESTIONS, LEAST_WORKLOADS, STUDENT_95, ShadowScore, score_of
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Challenge, Observation, Proposal, Reading

OURS, THEIRS, INITIAL = PoolTuple(16, 3, 10), PoolTuple(8, 3, 10), PoolTuple(2, 3, 500)


def proposed(pool_tuple: PoolTuple) -> Proposal:
    return Proposal(pool_tuple=pool_tuple, abstained=False, reason="told so")


def line(
    workload: int,
    in_force: PoolTuple = INITIAL,
    rate: float = 1000.0,
    challenge: Challenge | None = None,
    champion: PoolTuple = THEIRS,
    at_s: float = 0.0,
    hindrances: tuple[Hindrance, ...] = (),
) -> LoggedDecision:
    reading = Reading(goodput_per_s=rate, throughput_per_s=rate, seconds=5.0)
    proposal = None if challenge is None else proposed(champion)
    seen = Observation(
        at_s=at_s, unix_s=0.0, in_force=in_force, reading=reading, proposal=proposal, challenge=challenge
    )
    observation = seen.model_copy(update={"hindrances": hindrances})
    decision = Decision(state=State.HOLD, pool_tuple=in_force, incumbent=in_force, reason="", workload=workload)
    return LoggedDecision(observation, decision)


def challenged(expected: float | None = None, error: float | None = None, ours: PoolTuple = OURS) -> Challenge:
    return Challenge(proposal=proposed(ours), expected=expected, error=error)


def workloads(gain: float, count: int, scatter: float = 0.02, questions: int = 5) -> Iterator[LoggedDecision]:
    """Both tuples are measured in each workload, ours by a gain that scatters over workloads."""
    rng = np.random.default_rng(1)
    for number in range(count):
        ratio = math.exp(gain + scatter * rng.standard_normal())
        for _ in range(questions):
            yield line(number, challenge=challenged())
            yield line(number, THEIRS, 1000.0)
            yield line(number, OURS, 1000.0 * ratio)


def test_what_was_measured_in_the_same_workload_counts_before_what_was_expected() -> None:
    lines = [line(0, challenge=challenged(5.0, 0.1)), line(0, THEIRS, 1000.0), line(0, OURS, 1100.0)]
    (found,) = score_of(lines).questions
    assert found.measured
    assert found.difference == pytest.approx(math.log(1.1))
    (other,) = score_of([lines[0], lines[1], line(1, OURS, 1100.0)]).questions
    assert not other.measured
    assert (other.difference, other.error) == (5.0, 0.1)


def test_what_neither_was_measured_nor_expected_is_counted_apart() -> None:
    score = score_of([line(0, challenge=challenged())])
    assert (score.questions, score.unknown) == ((), 1)
    assert not score.may_take_over


def test_better_challenger_may_take_over_once_there_are_enough_of_both() -> None:
    score = score_of(workloads(0.05, 8))
    assert score.may_take_over
    assert 0.0 < score.low < 0.05 < score.high
    assert score.verdict() == "the challenger may take over: it was compared in 40 decisions in 8 workloads"
    few = score_of(workloads(0.05, LEAST_WORKLOADS - 1))
    assert not few.may_take_over
    assert "are needed" in few.verdict()
    assert not score_of(workloads(0.05, 8, questions=1)).may_take_over
    assert LEAST_QUESTIONS > 8


def test_worse_challenger_must_not_take_over() -> None:
    score = score_of(workloads(-0.1, 8))
    assert not score.may_take_over
    assert "must not take over" in score.verdict()


def test_what_is_not_shown_says_how_many_decisions_would_be() -> None:
    score = score_of(workloads(0.04, 8, scatter=0.15))
    assert not score.may_take_over
    assert "decisions would, if it went on like this" in score.verdict()


def test_expected_by_the_curves_alone_is_never_sure_while_their_error_is_large() -> None:
    lines = [line(number, challenge=challenged(0.05, 0.25)) for number in range(8) for _ in range(5)]
    assert not score_of(lines).may_take_over


def test_equals_may_take_over_from_one_another() -> None:
    lines = [line(number, challenge=challenged(0.0, 0.0, THEIRS)) for number in range(6) for _ in range(5)]
    score = score_of(lines)
    assert all(each.agreed for each in score.questions)
    assert (score.mean, score.may_take_over) == (0.0, True)


def test_alike_measured_and_expected_are_counted_apart() -> None:
    alike = line(0, challenge=challenged(0.0, 0.0, THEIRS))
    measured = [line(1, challenge=challenged()), line(1, THEIRS), line(1, OURS)]
    expected = [line(2, challenge=challenged(0.1, 0.1))] * 3
    assert score_of([alike] * 2).counts == {"agreed": 2, "measured": 0, "expected": 0}
    score = score_of([alike, alike, *measured, *expected])
    assert score.counts == {"agreed": 2, "measured": 1, "expected": 3}
    assert score.as_dict() | score.counts == score.as_dict()
    assert "6 decisions, of which 2 alike, 1 by what was measured and 3 by the known curves" in score_line(score)


def test_challenger_without_answers_agrees_with_nobody() -> None:
    """Before, one that failed every question counted as equal wherever the champion stayed, and could take over."""
    none = Challenge(proposal=proposed(INITIAL).model_copy(update={"abstained": True}), failed=True)
    score = score_of([line(number, challenge=none, champion=INITIAL) for number in range(6) for _ in range(5)])
    assert (score.questions, score.failed, score.may_take_over) == ((), 30, False)
    assert "to 30 the challenger had no answer" in score_line(score)


@pytest.mark.parametrize("left_out", [Challenge(proposal=proposed(INITIAL), failed=True), challenged()])
def test_few_that_can_be_compared_are_no_sample_of_many_that_cannot(left_out: Challenge) -> None:
    alike = [line(number, challenge=challenged(0.0, 0.0, THEIRS)) for number in range(6) for _ in range(5)]
    assert score_of([*alike, *[line(7, challenge=left_out)] * 3]).may_take_over
    many = score_of([*alike, *[line(7, challenge=left_out)] * 4])
    assert not many.may_take_over
    assert "too many to leave out" in many.verdict()


def test_windows_that_something_beside_the_pool_has_slowed_are_not_measured_by() -> None:
    """Before, a backup while one tuple was in force made the other one better."""
    ours, theirs = line(0, OURS, 1000.0), line(0, THEIRS, 1000.0)
    slowed = [line(0, THEIRS, 300.0, hindrances=(Hindrance("a backup is running"),))] * 9
    assert score_of([line(0, challenge=challenged()), ours, theirs, *slowed]).mean == pytest.approx(0.0)


def test_quantiles_are_never_smaller_than_students() -> None:
    for degrees in range(1, 60):
        quantile = STUDENT_95[degrees - 1] if degrees <= len(STUDENT_95) else 2.1
        assert stdtrit(degrees, 0.975) <= quantile <= stdtrit(degrees, 0.975) + 0.15


def test_interval_holds_the_mean_of_workloads() -> None:
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        lines = [
            line(number, challenge=challenged(difference, 0.0))
            for number, difference in enumerate(0.05 + 0.1 * rng.standard_normal(8))
            for _ in range(3)
        ]
        score = score_of(lines)
        held += score.low <= 0.05 <= score.high
    assert held >= 180


def test_tuner_that_begins_anew_counts_its_workloads_anew() -> None:
    lines = [line(0, challenge=challenged(0.1, 0.0), at_s=50.0), line(0, challenge=challenged(0.3, 0.0), at_s=10.0)]
    score = score_of(lines)
    assert score.workloads == 2
    assert score.mean == pytest.approx(0.2)


def test_empty_log_is_no_score() -> None:
    assert score_of([]) == ShadowScore((), 0, 0, 0.0, -math.inf, math.inf)
    assert score_of([]).as_dict()["low"] is None
