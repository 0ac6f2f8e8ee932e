"""Whether a choice went where the right answer lies, and what it lost to the default, with its power."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from poolpilot.env.measurement.sweep import Core
from suite.expectation import Expectation

MARGIN = 0.05
"""Loss to the default under which a choice on a flat workload is as good as it."""

ADVICE = "advice"
"""What the advice is called among the methods."""

CONFIDENCE, POWER = 0.95, 0.8

Outcome = Literal["right", "wrong", "not shown"]
Truth = Literal["yes", "no", "not shown", "not measured"]


@dataclass(frozen=True, slots=True)
class LossToDefault:
    """A difference in J to the default over paired rounds, as a share lost; all bounds are one-sided, 95 %.

    Attributes:
        loss: Share lost; negative where the choice is better.
        low: Lower bound of it.
        high: Upper bound of it.
        detectable: Smallest loss that rounds like these would have shown with a probability of 80 %.
        rounds: Rounds there and back.
    """

    loss: float
    low: float
    high: float
    detectable: float
    rounds: int

    @classmethod
    def of_rounds(cls, choice: Sequence[float], default: Sequence[float]) -> "LossToDefault":
        """The difference of two series of J, one value a round; of a series to itself it is nothing."""
        # SciPy comes with the extra `train`.
        from scipy.stats import t as student

        gains = np.subtract(choice, default)
        rounds = len(gains)
        if rounds < 2:
            return cls(0.0 - math.expm1(float(gains.mean())), -math.inf, 1.0, 1.0, rounds)
        error = float(np.std(gains, ddof=1)) / math.sqrt(rounds)
        sure, likely = (float(student.ppf(share, rounds - 1)) * error for share in (CONFIDENCE, POWER))
        mean = float(gains.mean())
        return cls(
            loss=0.0 - math.expm1(mean),
            low=0.0 - math.expm1(mean + sure),
            high=0.0 - math.expm1(mean - sure),
            detectable=0.0 - math.expm1(-(sure + likely)),
            rounds=rounds,
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a choice on one workload is.

    Attributes:
        outcome: Whether it is the right answer.
        difference: What it loses to the default.
    """

    outcome: Outcome
    difference: LossToDefault


def judge(
    expectation: Expectation,
    chosen: Core,
    default: Core,
    *,
    abstained: bool,
    difference: LossToDefault,
    floors_kept: bool = True,
) -> Judgement:
    """Judges a choice by what was written down; one that leaves a long class less than it must keep is wrong.

    Args:
        expectation: The direction.
        chosen: The tuple that a method left in force.
        default: The tuple it began with.
        abstained: Whether it said that it has no advice.
        difference: What the choice loses to the default, in windows that no method chose by.
        floors_kept: Whether every long class keeps what it must.
    """
    if not floors_kept:
        return Judgement("wrong", difference)
    if expectation.verdict == "abstain":
        right = abstained
    elif expectation.verdict == "flat" and chosen != default:
        return Judgement(_within_margin(difference), difference)
    else:
        right = expectation.verdict == "flat" or expectation.agrees(chosen, default)
    return Judgement("right" if right else "wrong", difference)


def _within_margin(difference: LossToDefault) -> Outcome:
    if difference.high < MARGIN:
        return "right"
    return "wrong" if difference.low > MARGIN else "not shown"


def came_true(expectation: Expectation, reference: Core, default: Core, difference: LossToDefault) -> Truth:
    """Whether the best tuple of the sweep bears the direction out, measured afresh.

    Args:
        expectation: The direction.
        reference: The best tuple of the sweep.
        default: The default tuple.
        difference: What the reference loses to the default, negative where it gains.
    """
    if expectation.verdict in ("abstain", "hold"):
        return "not measured"
    if expectation.verdict == "flat":
        if reference == default or difference.low > -MARGIN:
            return "yes"
        return "no" if difference.high < -MARGIN else "not shown"
    if difference.high < 0.0:
        return "yes" if expectation.agrees(reference, default) else "no"
    return "no" if difference.low > -MARGIN else "not shown"
