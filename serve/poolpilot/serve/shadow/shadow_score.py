"""How a challenger compares with the champion, from a log in which both have answered the same windows.

For each question the two tuples that they name are compared in ln goodput: by what was measured under both in the same
workload, else by what the known curves expected then. Questions of one workload are asked about the same thing, so that
they count together: the interval is that of the mean over workloads, by Student's distribution.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.shadow.challenger import acted_on
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.evidence.paired_trial import noise_of
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading, beside_the_pool

MARGIN = 0.01
"""A challenger that is not worse by more than this in ln goodput may take over."""

LEAST_WORKLOADS = 5
LEAST_QUESTIONS = 20
"""Fewer say nothing, however they turn out."""

MOST_UNANSWERED = 0.1
"""Of more than this share of questions that it failed, or that nothing can compare, the others are no sample."""

STUDENT_95 = (
    *(12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23),
    *(2.21, 2.18, 2.17, 2.15, 2.14, 2.12, 2.11, 2.11),
)
"""Two-sided 95 % quantiles for 1 to 18 degrees of freedom, rounded up; above them 2.1 at most."""


@dataclass(frozen=True)
class Compared:
    """One question.

    Attributes:
        workload: Number of the workload.
        difference: ln goodput of the challenger's tuple minus that of the champion's.
        error: Its standard error.
        measured: Whether they were compared by what was measured under both; where they differ, else by the curves.
        agreed: Whether both had named the same, so that there was nothing to compare.
    """

    workload: int
    difference: float
    error: float
    measured: bool
    agreed: bool


@dataclass(frozen=True)
class ShadowScore:
    """How the challenger did.

    Attributes:
        questions: Questions that can be compared.
        unknown: Questions that cannot: neither measured nor known to the curves.
        failed: Questions to which the challenger had no answer.
        mean: Mean difference over workloads in ln goodput; above 0 the challenger is better.
        low: Lower end of its 95 % interval; minus infinity for a single workload.
        high: Upper end.
    """

    questions: tuple[Compared, ...]
    unknown: int
    failed: int
    mean: float
    low: float
    high: float

    @property
    def workloads(self) -> int:
        """Workloads among the questions."""
        return len({each.workload for each in self.questions})

    @property
    def counts(self) -> dict[str, int]:
        """How many questions were answered alike, how many compared by windows, and how many by the known curves."""
        agreed = sum(each.agreed for each in self.questions)
        measured = sum(each.measured for each in self.questions)
        return {"agreed": agreed, "measured": measured, "expected": len(self.questions) - agreed - measured}

    @property
    def may_take_over(self) -> bool:
        """Whether it is shown not to be worse by more than the margin, on enough of both and on nearly all."""
        enough = self.workloads >= LEAST_WORKLOADS and len(self.questions) >= LEAST_QUESTIONS
        return enough and self._answered and self.low > -MARGIN

    @property
    def _answered(self) -> bool:
        left_out = self.unknown + self.failed
        return left_out <= MOST_UNANSWERED * (left_out + len(self.questions))

    def verdict(self) -> str:
        """What follows, as a sentence."""
        seen = f"{len(self.questions)} decisions in {self.workloads} workloads"
        if self.may_take_over:
            return f"the challenger may take over: it was compared in {seen}"
        if self.workloads >= LEAST_WORKLOADS and self.high < -MARGIN:
            return f"the challenger must not take over: it is worse in {seen}"
        return f"the challenger may not take over yet: {seen} do not show it; {self._needed()}"

    def _needed(self) -> str:
        if not self._answered:
            return (
                f"to {self.failed} more it had no answer, and {self.unknown} cannot be compared: too many to leave out"
            )
        least = f"at least {LEAST_QUESTIONS} decisions in {LEAST_WORKLOADS} workloads are needed"
        if self.workloads < LEAST_WORKLOADS or len(self.questions) < LEAST_QUESTIONS:
            return least
        if self.mean <= -MARGIN:
            return "on average it is worse, so that more of them will hardly show otherwise"
        share = ((self.mean - self.low) / (self.mean + MARGIN)) ** 2
        return f"about {math.ceil(len(self.questions) * share)} decisions would, if it went on like this"

    def as_dict(self) -> dict[str, Any]:
        """The score fit for JSON."""
        return {
            "decisions": len(self.questions),
            "workloads": self.workloads,
            **self.counts,
            "unknown": self.unknown,
            "failed": self.failed,
            "mean": self.mean,
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high if math.isfinite(self.high) else None,
            "may_take_over": self.may_take_over,
            "verdict": self.verdict(),
        }


def score_of(lines: Iterable[LoggedDecision]) -> ShadowScore:
    """Compares champion and challenger by the decisions of a log, oldest first."""
    asked: list[tuple[int, LoggedDecision]] = []
    seen: dict[tuple[int, PoolTuple], list[Reading]] = defaultdict(list)
    workload = 0
    last: LoggedDecision | None = None
    for line in lines:
        if last is not None and _begins(last, line):
            workload += 1
        if (
            line.observation.reading is not None
            and line.observation.in_force is not None
            and not beside_the_pool(line.observation.hindrances)
        ):
            seen[workload, line.observation.in_force].append(line.observation.reading)
        if line.observation.proposal is not None and line.observation.challenge is not None:
            asked.append((workload, line))
        last = line
    answered = [
        (number, line) for number, line in asked if line.observation.challenge and not line.observation.challenge.failed
    ]
    compared = [_compared(number, line, seen) for number, line in answered]
    known = tuple(each for each in compared if each is not None)
    return ShadowScore(known, len(compared) - len(known), len(asked) - len(answered), *_interval(known))


def _begins(last: LoggedDecision, line: LoggedDecision) -> bool:
    """Whether another workload begins, or another tuner, which counts workloads and seconds anew."""
    return line.decision.workload != last.decision.workload or line.observation.at_s < last.observation.at_s


def _compared(workload: int, line: LoggedDecision, seen: dict[tuple[int, PoolTuple], list[Reading]]) -> Compared | None:
    observation, in_force = line.observation, line.observation.in_force
    if observation.challenge is None or observation.proposal is None or in_force is None:
        return None
    ours, theirs = acted_on(observation.challenge.proposal, in_force), acted_on(observation.proposal, in_force)
    if ours.core == theirs.core:
        return Compared(workload, 0.0, 0.0, measured=False, agreed=True)
    here, there = seen.get((workload, ours)), seen.get((workload, theirs))
    if here and there:
        difference = _level(here) - _level(there)
        error = math.hypot(noise_of(here) / math.sqrt(len(here)), noise_of(there) / math.sqrt(len(there)))
        return Compared(workload, difference, error, measured=True, agreed=False)
    expected, error_of = observation.challenge.expected, observation.challenge.error
    if expected is None or error_of is None:
        return None
    return Compared(workload, expected, error_of, measured=False, agreed=False)


def _level(readings: Sequence[Reading]) -> float:
    return statistics.fmean(math.log(each.goodput_per_s) for each in readings)


def _interval(questions: Sequence[Compared]) -> tuple[float, float, float]:
    """Mean over workloads and its 95 % interval: how they differ, and how well each of them is known."""
    grouped: dict[int, list[Compared]] = defaultdict(list)
    for each in questions:
        grouped[each.workload].append(each)
    means = [statistics.fmean(one.difference for one in each) for each in grouped.values()]
    if not means:
        return 0.0, -math.inf, math.inf
    mean, degrees = statistics.fmean(means), len(means) - 1
    if not degrees:
        return mean, -math.inf, math.inf
    between = statistics.variance(means) / len(means)
    # Errors within a workload are of the same curves or windows, and do not shrink with the number of its questions.
    within = sum(max(one.error for one in each) ** 2 for each in grouped.values()) / len(means) ** 2
    student = STUDENT_95[degrees - 1] if degrees <= len(STUDENT_95) else 2.1
    half = student * math.sqrt(max(between, within))
    return mean, mean - half, mean + half
