"""The predictor stays inside the limits, knows when it does not know, and says why."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.artefact import Artefact
from poolpilot.models.predictor import Estimate, ScorePredictor


def with_settings(artefact: Artefact, **settings: float) -> ScorePredictor:
    changed = artefact.card.settings.model_copy(update=settings)
    return ScorePredictor(replace(artefact, card=artefact.card.model_copy(update={"settings": changed})))


def predict(predictor: Predictor, window: Window, limits: KnobSpace) -> Prediction:
    return predictor.predict([window], limits, Objective())


@pytest.fixture
def poor(window_of: Callable[..., Window], unanimous: Artefact, limits: KnobSpace) -> Window:
    """A familiar window under a tuple whose size the model would change."""
    predictor = ScorePredictor(unanimous)
    windows = (window_of(seed, PoolTuple(size, 3, 500)) for seed in range(50) for size in DEFAULT_GRID.sizes)
    return next(
        one for one in windows if predict(predictor, one, limits).pool_tuple.pool_size != one.pool_tuple.pool_size
    )


def test_sure_prediction_names_the_best_tuple_with_gain_and_digest(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    predictor = ScorePredictor(unanimous)
    prediction = predict(predictor, poor, limits)
    preferred = predictor.prefer([poor], limits, Objective())
    assert prediction.pool_tuple == preferred.pool_tuple
    assert prediction.in_force == poor.pool_tuple
    assert not prediction.abstained
    assert prediction.expected_gain == pytest.approx(preferred.over_in_force.mean, abs=1e-6)
    assert preferred.over_in_force.mean > 0.0
    assert prediction.model_digest == unanimous.digest
    assert prediction.reasons


def test_network_names_what_is_of_use_to_who_asks_where_its_grid_has_any(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    predictor = ScorePredictor(unanimous)
    freely = predictor.prefer([poor], limits, Objective()).pool_tuple
    other = replace(limits, permits=lambda one: one.core != freely.core)
    assert predictor.prefer([poor], other, Objective()).pool_tuple != freely
    assert predictor.prefer([poor], replace(limits, permits=lambda _: False), Objective()).pool_tuple == freely


def test_other_knobs_keep_their_value(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    special = replace(poor.pool_tuple, create_thread_on_wait=False, idle_timeout_s=7.0)
    prediction = predict(ScorePredictor(unanimous), replace(poor, pool_tuple=special), limits)
    assert not prediction.keeps
    assert (prediction.pool_tuple.create_thread_on_wait, prediction.pool_tuple.idle_timeout_s) == (False, 7.0)


@pytest.mark.parametrize("largest", [1, 4, 128])
def test_no_prediction_leaves_the_limits(unanimous: Artefact, window_of: Callable[..., Window], largest: int) -> None:
    limits = KnobSpace.stock(2, max_pool_size=largest)
    for seed in range(20):
        prediction = predict(ScorePredictor(unanimous), window_of(seed, PoolTuple(1, 1, 10)), limits)
        limits.check(prediction.pool_tuple)


def test_limits_that_allow_no_tuple_are_an_error(unanimous: Artefact, window_of: Callable[..., Window]) -> None:
    stock = KnobSpace.stock(2)
    far = KnobSpace(2, {**stock.knobs, "pool_size": replace(stock.knobs["pool_size"], low=100, default=100)})
    with pytest.raises(SettingError, match="no configuration of the grid"):
        predict(ScorePredictor(unanimous), window_of(0), far)


def test_no_window_is_an_error(unanimous: Artefact, limits: KnobSpace) -> None:
    with pytest.raises(SettingError, match="at least one window"):
        ScorePredictor(unanimous).predict([], limits, Objective())


def test_processors_that_nobody_has_named_make_it_abstain(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    prediction = predict(ScorePredictor(unanimous), poor, replace(limits, processors=None))
    assert (prediction.verdict, prediction.pool_tuple) == ("no advice", poor.pool_tuple)
    assert "--cpus N" in prediction.reasons[0]


def test_unknown_core_count_makes_it_abstain_and_keep(unanimous: Artefact, poor: Window) -> None:
    prediction = predict(ScorePredictor(unanimous), poor, KnobSpace.stock(72))
    assert prediction.abstained
    assert prediction.keeps
    assert prediction.pool_tuple == poor.pool_tuple
    assert prediction.reasons[0].startswith(
        "the model has learned from servers of 2 processors only, and this one has 72"
    )


@pytest.mark.parametrize("cpus", [1, 3, 4, 16])
def test_ignorance_is_no_advice_to_leave_it_and_promises_nothing(
    unanimous: Artefact, window_of: Callable[..., Window], cpus: int
) -> None:
    busy = {"queue_length_mean": 30.0}
    windows = [window_of(3, PoolTuple(4, 3, 500), **busy), window_of(3, PoolTuple(64, 10, 10), **busy)]
    prediction = ScorePredictor(unanimous).predict(windows, KnobSpace.stock(cpus), Objective())
    assert (prediction.abstained, prediction.verdict) == (True, "no advice")
    assert (prediction.expected_gain, prediction.gain_low, prediction.gain_high) == (None, None, None)
    assert not any("leave" in reason for reason in prediction.reasons)
    assert "it would need" in prediction.reasons[0]
    assert prediction.as_dict()["verdict"] == "no advice"


def test_disagreement_of_the_members_makes_it_abstain(
    artefact: Artefact, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    trusting, wary = ScorePredictor(artefact), with_settings(artefact, max_disagreement=1e-6)
    window = next(
        one
        for one in map(window_of, range(50))
        if trusting.prefer([one], limits, Objective()).over_in_force.disagreement > 1e-6
    )
    assert not predict(trusting, window, limits).abstained
    prediction = predict(wary, window, limits)
    assert prediction.abstained
    assert prediction.keeps
    assert prediction.verdict == "no advice"
    assert prediction.reasons[-1].startswith("the networks of the model contradict each other")
    assert "it would need" in prediction.reasons[-1]


def test_a_great_disagreement_is_no_large_number(artefact: Artefact, poor: Window, limits: KnobSpace) -> None:
    predictor = with_settings(artefact, max_disagreement=1e-6)
    (reason,) = predictor._doubts([poor], limits, Estimate(mean=0.0, low=-9.0, high=9.0, disagreement=7.0))
    assert "by a factor of more than 10," in reason


def test_gain_below_the_wanted_one_leaves_it_without_abstaining(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    prediction = predict(with_settings(unanimous, min_gain=50.0, max_forgone=40.0), poor, limits)
    assert not prediction.abstained
    assert prediction.keeps
    assert prediction.verdict == "leave it"
    assert prediction.reasons[0].startswith("leave it: ")


def test_where_much_is_promised_and_not_sure_it_has_no_advice(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    promised = ScorePredictor(unanimous).prefer([poor], limits, Objective())
    gain = promised.over_in_force.mean
    left, tried = (with_settings(unanimous, min_gain=50.0, max_forgone=gain + more) for more in (0.01, -0.01))
    assert predict(left, poor, limits).verdict == "leave it"
    prediction = predict(tried, poor, limits)
    assert (prediction.verdict, prediction.keeps) == ("no advice", True)
    assert (prediction.expected_gain, prediction.gain_low) == (None, None)
    assert prediction.reasons[0].startswith(f"{promised.pool_tuple} promises ")
    assert prediction.reasons[0].endswith("only trying it tells")


def test_noise_of_outcomes_widens_the_interval(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    sure = predict(ScorePredictor(unanimous), poor, limits)
    assert sure.expected_gain is not None
    noise = sure.expected_gain / 4.0
    noisy = replace(unanimous, card=unanimous.card.model_copy(update={"residual_std": noise}))
    prediction = predict(ScorePredictor(noisy), poor, limits)
    assert prediction.expected_gain == pytest.approx(sure.expected_gain, abs=1e-6)
    assert prediction.gain_low == pytest.approx(sure.expected_gain - 1.28 * noise, abs=1e-6)
    assert prediction.gain_high == pytest.approx(sure.expected_gain + 1.28 * noise, abs=1e-6)


def test_another_price_of_threads_shifts_the_gain_by_exactly_that(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    predictor = ScorePredictor(unanimous)
    trained, dearer, dearest = (
        predictor.prefer([poor], limits, Objective(price_of_thread=price)) for price in (0.02, 0.021, 1000.0)
    )
    assert dearer.pool_tuple == trained.pool_tuple
    change = -0.001 * np.log(trained.pool_tuple.pool_size / poor.pool_tuple.pool_size)
    assert dearer.over_first.mean - trained.over_first.mean == pytest.approx(change, abs=1e-6)
    assert abs(change) > 1e-4
    assert dearest.pool_tuple.pool_size == min(DEFAULT_GRID.sizes)


def test_gain_counts_from_the_first_window(
    unanimous: Artefact, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    first, second = window_of(3, PoolTuple(4, 3, 500)), window_of(3, PoolTuple(64, 10, 10))
    preference = ScorePredictor(unanimous).prefer([first, second], limits, Objective())
    assert preference.over_first.mean == pytest.approx(
        preference.over_in_force.mean + preference.keeping_over_first.mean, abs=1e-5
    )
    assert preference.keeping_over_first.mean != 0.0


def test_prediction_is_fit_for_json(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    fields = predict(ScorePredictor(unanimous), poor, limits).as_dict()
    assert fields["pool_tuple"]["pool_size"] in DEFAULT_GRID.sizes
    assert (fields["keeps"], fields["verdict"]) == (False, "change")
    assert isinstance(fields["reasons"], list)


def test_advice_expires_as_the_card_says(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    assert predict(with_settings(unanimous, expires_s=7.0), poor, limits).expires_s == 7.0


def test_verified_use_tries_what_is_not_surely_better_but_still_abstains_when_unfamiliar(
    artefact: Artefact, unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    cautious = with_settings(unanimous, min_gain=50.0)
    assert predict(cautious, poor, limits).keeps
    relaxed = ScorePredictor(cautious.artefact, cautious.settings.relaxed_for_trials())
    assert predict(relaxed, poor, limits).pool_tuple == relaxed.prefer([poor], limits, Objective()).pool_tuple
    divided = with_settings(artefact, max_disagreement=1e-9)
    assert not predict(ScorePredictor(artefact, divided.settings.relaxed_for_trials()), poor, limits).abstained
    assert predict(relaxed, poor, KnobSpace.stock(96)).abstained


def test_no_more_groups_are_advised_than_there_are_connections(
    unanimous: Artefact, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    predictor = with_settings(unanimous, indifference=0.0)
    many = window_of(3, PoolTuple(1, 3, 500), connections=64.0)
    # A price below zero makes the largest pool the best.
    eager = Objective.model_construct(**{**Objective().model_dump(), "price_of_thread": -100.0})
    for connections, size in ((64.0, 64), (13.0, 16), (1.0, 1)):
        features = {**many.profile.features, "connections": connections}
        window = replace(many, profile=replace(many.profile, features=features))
        assert predictor.prefer([window], limits, eager).pool_tuple.pool_size == size


def test_of_equals_the_smallest_pool_is_advised(unanimous: Artefact, poor: Window, limits: KnobSpace) -> None:
    # At this price the network's favourite is a large pool.
    dear = Objective.model_construct(**{**Objective().model_dump(), "price_of_thread": -100.0})
    exact, frugal = (
        with_settings(unanimous, indifference=indifference).prefer([poor], limits, dear)
        for indifference in (0.0, 1000.0)
    )
    assert frugal.pool_tuple.pool_size == min(DEFAULT_GRID.sizes) < exact.pool_tuple.pool_size
    assert frugal.over_first.mean < exact.over_first.mean


def test_hidden_feature_neither_decides_nor_makes_a_window_unfamiliar(
    unanimous: Artefact, poor: Window, limits: KnobSpace
) -> None:
    hidden = ("wakes_per_s", "utilisation", "queue_share")
    blind = replace(unanimous, card=unanimous.card.model_copy(update={"hidden_features": hidden}))
    wild = dict.fromkeys(hidden, 0.0) | {"wakes_per_s": 9e6}
    changed = replace(poor, profile=replace(poor.profile, features={**poor.profile.features, **wild}))
    assert predict(ScorePredictor(unanimous), changed, limits) != predict(ScorePredictor(unanimous), poor, limits)
    assert predict(ScorePredictor(blind), changed, limits) == predict(ScorePredictor(blind), poor, limits)
    predictor = ScorePredictor(blind)
    assert predictor.probe([changed], limits, Objective()) == predictor.probe([poor], limits, Objective())


def test_probe_is_never_a_tuple_that_was_measured_or_is_forbidden(
    unanimous: Artefact, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    predictor = ScorePredictor(unanimous)
    windows = [window_of(0, PoolTuple(2, 3, 500))]
    named: list[PoolTuple] = []
    while (probe := predictor.probe(windows[-3:], limits, Objective())) is not None and len(named) < 3:
        assert limits.allows(probe)
        assert probe.core not in {window.pool_tuple.core for window in windows[-3:]}
        named.append(probe)
        windows.append(window_of(len(named), probe))
    assert len({probe.core for probe in named}) == 3


def test_probe_hopes_for_the_tuple_that_the_members_disagree_on(
    artefact: Artefact, window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    window = window_of(0, PoolTuple(2, 3, 500))
    gains, _ = ScorePredictor(artefact)._member_gains([window], limits, Objective())
    tuples = artefact.card.grid.tuples
    connections = window.profile.features["connections"] or 1.0
    for deviations in (0.0, 100.0):
        probe = with_settings(artefact, probe_deviations=deviations).probe([window], limits, Objective())
        assert probe is not None
        bound = gains.mean(axis=0) + deviations * gains.std(axis=0)
        baselines = [
            bound[index]
            for index, one in enumerate(tuples)
            if limits.allows(one) and one.core != window.pool_tuple.core and one.pool_size <= connections
        ]
        chosen = bound[[one.core for one in tuples].index(probe.core)]
        assert chosen >= max(baselines)
