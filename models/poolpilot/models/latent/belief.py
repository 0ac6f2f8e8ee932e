"""What the answers so far say about a workload: a posterior over known response curves, and what it is worth to try.

Let curve s promise J_s(u) for tuple u, and let tuple u_i have shown J_i. Before any answer a curve weighs what it is
like the windows seen (`likeness.py`), every family alike. An answer is compared as a difference d_i to the best one,
because curves differ in level for reasons that decide nothing (a faster machine), and so is what the curve promises,
d_s(u_i). What is worse than the best tuple measured by more than `DEEPEST` counts as that much worse: how far below it
next to nothing is decides nothing either. A curve's weight is multiplied by the likelihood of the differences under
Student's t with `FREEDOM` degrees of freedom, whose heavy tails keep one odd window from settling the matter:

    w_s ~ prior_s * prod_i (1 + (d_i - d_s(u_i))^2 / (FREEDOM * sigma_i^2)) ^ (-(FREEDOM + 1) / 2)

with sigma_i^2 the model's own error (`model_error`) and the counting error of the two windows.

Trying u and keeping the better costs, under curve s, the regret min(least_s, r_s(u)) from then on, least_s being the
least regret among the tuples measured, and r_s(u) while it is tried. The tuple to try has the least expectation of

    min(least_s, r_s(u)) + trial_price * r_s(u).

Hong, Kveton, Zaheer, Chow, Ahmed and Boutilier, "Latent Bandits Revisited", NeurIPS 2020: a bandit that knows the
reward curves of all states but not the state. Looking one step ahead is the knowledge gradient of Frazier, Powell and
Dayanik, "A Knowledge-Gradient Policy for Sequential Information Collection", SIAM J. Control Optim. 47(5), 2008.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FREEDOM = 4.0
"""Degrees of freedom of the likelihood."""

DEEPEST = 2.0
"""Difference of J to the best below which answers are not told apart: a seventh of its goodput."""

MODEL_ERROR = 0.25
"""Standard deviation of J between a workload and the curve most like it, by default."""


@dataclass(frozen=True)
class Answer:
    """What one tuple has shown.

    Attributes:
        place: Place of the tuple among the U of the server.
        value: Mean J of its windows.
        error: Standard error of that by counting.
    """

    place: int
    value: float
    error: float


@dataclass(frozen=True)
class Belief:
    """A posterior over S curves on one server.

    Attributes:
        values: J of every curve under every tuple, (S, U).
        prior: Weight of each curve before any answer, (S,); not normalised.
        answers: What has been measured, the first tuple first; at least one.
        model_error: Standard deviation of J between a workload and the curve that is most like it.
        not_kept: Places of tuples that have been measured and cannot be kept, as they break a constraint.
    """

    values: NDArray[np.float64]
    prior: NDArray[np.float64]
    answers: Sequence[Answer]
    model_error: float
    not_kept: frozenset[int] = frozenset()

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The posterior, (S,)."""
        prior = np.maximum(self.prior, np.finfo(np.float64).tiny)
        if len(self.answers) == 1:  # it is the best one, so no curve promises a difference to it
            only: NDArray[np.float64] = prior / prior.sum()
            return only
        shown = np.array([answer.value for answer in self.answers])
        errors = np.array([answer.error for answer in self.answers])
        best = int(np.argmax(shown))
        promised = _floored(self.values[:, [answer.place for answer in self.answers]])
        surprise = _floored(shown) - _floored(shown)[best] - (promised - promised[:, [best]])
        variance = self.model_error**2 + np.square(errors) + errors[best] ** 2
        terms = np.log1p(np.square(surprise) / (FREEDOM * variance))
        log_weights = np.log(prior) - 0.5 * (FREEDOM + 1.0) * terms.sum(axis=1)
        weights = np.exp(log_weights - log_weights.max())
        posterior: NDArray[np.float64] = weights / weights.sum()
        return posterior

    @cached_property
    def regrets(self) -> NDArray[np.float64]:
        """Regret of every tuple under every curve, (S, U)."""
        return regrets_of_values(self.values)

    @cached_property
    def _least(self) -> NDArray[np.float64]:
        """Least regret among the tuples measured that can be kept under every curve, (S,)."""
        places = [answer.place for answer in self.answers]
        kept = [place for place in places if place not in self.not_kept] or places[:1]
        least: NDArray[np.float64] = self.regrets[:, kept].min(axis=1)
        return least

    @cached_property
    def improvement(self) -> NDArray[np.float64]:
        """Regret that trying each tuple once is expected to take off what is kept, (U,); at least 0."""
        after = self.weights @ np.minimum(self.regrets, self._least[:, None])
        taken: NDArray[np.float64] = self.weights @ self._least - after
        return taken

    def most_promising(self, trial_price: float, usable: NDArray[np.bool_], most: int = 1) -> list[int]:
        """Places of the tuples to try next, the most promising first; none where none is left.

        Args:
            trial_price: Weight of the regret during the trial beside that of what is kept.
            usable: Which tuples may be tried, (U,); those that were measured never are.
            most: Places wanted at most.
        """
        worth = self.improvement - trial_price * (self.weights @ self.regrets)
        open_ = usable.copy()
        open_[[answer.place for answer in self.answers]] = False
        places = np.argsort(-np.where(open_, worth, -np.inf), kind="stable")[:most]
        return [int(place) for place in places if open_[place]]

    def gain(self, place: int, interval: float, over: int | None = None) -> tuple[float, float, float]:
        """Gain in J of a tuple over another: its mean, and the ends of the interval.

        Args:
            place: The tuple.
            interval: Share of the posterior that the interval holds, as much of the rest on either side.
            over: The other tuple; the first measured if None.
        """
        other = self.answers[0].place if over is None else over
        if place == other:
            return 0.0, 0.0, 0.0
        gains = self.values[:, place] - self.values[:, other]
        order = np.argsort(gains)
        below = np.cumsum(self.weights[order])
        tail = (1.0 - interval) / 2.0
        ends = np.minimum(np.searchsorted(below, (tail, 1.0 - tail)), len(order) - 1)
        low, high = gains[order[ends]]
        return float(self.weights @ gains), float(low), float(high)


def regrets_of_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Regret of every tuple under every curve, of their J, (S, U)."""
    regrets: NDArray[np.float64] = 1.0 - np.exp(values - values.max(axis=1, keepdims=True))
    return regrets


def _floored(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values (..., n), none further below the greatest of its row than `DEEPEST`."""
    floored: NDArray[np.float64] = np.maximum(values, values.max(axis=-1, keepdims=True) - DEEPEST)
    return floored
