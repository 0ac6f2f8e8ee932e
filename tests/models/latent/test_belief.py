"""The belief follows Bayes' rule, values trials by what they are expected to save, and survives an odd answer."""

import numpy as np
import pytest
from numpy.typing import NDArray

from poolpilot.models.latent.belief import FREEDOM, Answer, Belief

RISING, FALLING = (0.0, 0.5, 1.0), (0.0, -0.5, -1.0)
VALUES = np.array([RISING, FALLING])
EVEN = np.array([0.5, 0.5])
ALL = np.ones(3, dtype=np.bool_)


def belief(*answers: Answer, prior: NDArray[np.float64] = EVEN) -> Belief:
    return Belief(VALUES, prior, [Answer(0, 5.0, 0.0), *answers], model_error=0.25)


def test_first_answer_alone_leaves_the_prior() -> None:
    np.testing.assert_allclose(belief(prior=np.array([0.8, 0.2])).weights, [0.8, 0.2])


def test_only_answer_is_weighed_as_one_of_two_that_say_the_same() -> None:
    generator = np.random.default_rng(3)
    values, prior = generator.normal(size=(50, 4)), generator.random(50)
    prior[0] = 0.0
    only = Belief(values, prior, [Answer(1, 2.0, 0.3)], 0.25)
    np.testing.assert_allclose(only.weights, prior / prior.sum(), atol=1e-300)
    twice = Belief(values, prior, [Answer(1, 2.0, 0.3), Answer(1, 2.0, 0.3)], 0.25)
    np.testing.assert_allclose(only.weights, twice.weights, rtol=1e-12, atol=1e-300)


def test_weights_are_bayes_rule_with_students_t() -> None:
    def likelihood(shortfall: float) -> float:
        return float((1.0 + shortfall**2 / (FREEDOM * 0.25**2)) ** (-(FREEDOM + 1.0) / 2.0))

    agreeing, contradicting = likelihood(0.1), likelihood(0.9)
    weights = belief(Answer(1, 5.4, 0.0)).weights
    np.testing.assert_allclose(weights, [agreeing, contradicting] / np.array(agreeing + contradicting))


def test_level_of_an_answer_does_not_count_only_its_difference_to_the_first() -> None:
    low = Belief(VALUES, EVEN, [Answer(0, -3.0, 0.0), Answer(1, -2.6, 0.0)], 0.25)
    np.testing.assert_allclose(low.weights, belief(Answer(1, 5.4, 0.0)).weights)


def test_how_far_below_the_best_next_to_nothing_is_does_not_count() -> None:
    deep = np.array([[-9.0, 0.5, 1.0], [-3.0, 0.5, 0.0]])
    for bottom in (-4.0, -40.0):
        weights = Belief(deep, EVEN, [Answer(0, bottom, 0.0), Answer(1, 0.5, 0.0)], 0.25).weights
        np.testing.assert_allclose(weights, EVEN)


def test_noisy_answer_counts_for_less() -> None:
    sure, unsure = belief(Answer(1, 5.5, 0.0)).weights[0], belief(Answer(1, 5.5, 1.0)).weights[0]
    assert 0.5 < unsure < sure


def test_trial_is_worth_what_it_saves_in_expectation() -> None:
    improvement = belief().improvement
    assert improvement[0] == pytest.approx(0.0)
    assert improvement[2] == pytest.approx(0.5 * (1.0 - np.exp(-1.0)))
    assert belief().most_promising(0.0, ALL) == [2]


def test_dear_trials_are_shorter_steps() -> None:
    doubtful = belief(prior=np.array([0.3, 0.7]))
    assert doubtful.most_promising(0.0, ALL) == [2]
    assert doubtful.most_promising(3.0, ALL) == [1]


def test_several_come_in_the_order_of_what_they_promise() -> None:
    assert belief().most_promising(0.0, ALL, 3) == [2, 1]


def test_measured_and_useless_tuples_are_not_tried_again() -> None:
    assert belief(Answer(2, 6.0, 0.0)).most_promising(0.0, ALL) == [1]
    assert belief().most_promising(0.0, np.array([True, True, False])) == [1]
    assert belief(Answer(2, 6.0, 0.0)).most_promising(0.0, np.array([True, False, True])) == []


def test_gain_has_the_quantiles_of_the_posterior() -> None:
    doubtful = belief(prior=np.array([0.9, 0.1]))
    assert doubtful.gain(2, 0.9) == pytest.approx((0.8, -1.0, 1.0))
    assert doubtful.gain(2, 0.6)[1:] == (1.0, 1.0)


def test_gain_over_another_tuple_is_the_difference() -> None:
    doubtful = belief(prior=np.array([0.9, 0.1]))
    assert doubtful.gain(2, 0.9, over=1) == pytest.approx((0.4, -0.5, 0.5))
    assert doubtful.gain(1, 0.9, over=1) == (0.0, 0.0, 0.0)
