"""Whatever is predicted, measured or done by people: no tuple outside the ranges, none beyond a step, no error."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.tuner.conftest import INITIAL, Drive, is_mix, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.models.advice.prediction import Prediction
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.evidence.tuner_observation import (
    LEAST,
    MOST,
    MOST_GAIN,
    Observation,
    Proposal,
    Reading,
)
from poolpilot.serve.tuner.machine.memory import Memory

ANY_NUMBER = st.integers(min_value=-(2**70), max_value=2**70)
NEAR_NUMBER = st.integers(min_value=1, max_value=200)
NUMBER = NEAR_NUMBER | ANY_NUMBER
ANY_TUPLE = st.builds(PoolTuple, NUMBER, NUMBER, NUMBER)
TAKEN_BY_A_SERVER = st.builds(PoolTuple, st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 60_000))
MEASURED = st.floats(LEAST, MOST)
RATIOS = st.lists(st.sampled_from([0.0, 1.0, 3.0]) | st.none(), max_size=13).map(tuple)
READING = st.builds(
    Reading,
    goodput_per_s=MEASURED,
    throughput_per_s=MEASURED,
    latency_ms=st.none() | MEASURED,
    seconds=MEASURED,
    ratios=RATIOS,
)
ANSWER = st.builds(
    Prediction,
    pool_tuple=ANY_TUPLE,
    in_force=st.just(INITIAL),
    abstained=st.booleans(),
    reasons=st.just(("ill will",)),
    model_digest=st.just(""),
    expected_gain=st.none() | st.floats(),
)
HAPPENING = st.fixed_dictionaries(
    {"reading": st.none() | READING, "proposal": st.builds(Proposal.of, ANSWER, st.floats())},
    optional={
        "in_force": st.none() | TAKEN_BY_A_SERVER,
        "restarted": st.booleans(),
        "kill": st.booleans(),
        "refused": st.just("no"),
        "changed_by_others": st.booleans(),
        "hindrances": st.just((Hindrance("a backup runs"),)),
    },
)
LIMITS: dict[str, Any] = {"most_size": 16, "most_oversubscribe": 8, "least_stall_limit_ms": 20, "most_threads": 100}


@settings(max_examples=150, deadline=None)
@given(
    happenings=st.lists(st.tuples(HAPPENING, st.sampled_from([0.0, 5.0, 4000.0])), max_size=60),
    factor=st.floats(1.05, 8.0),
)
def test_no_decision_leaves_ranges_or_trust_region(
    happenings: list[tuple[dict[str, Any], float]], factor: float
) -> None:
    allowed = rules(factor=factor, observe_for_s=0.0, baseline_windows=2, cool_down_s=0.0, stand_down_s=1.0, **LIMITS)
    memory, at_s, in_force, earlier = Memory.begin(INITIAL, 0.0), 0.0, INITIAL, {INITIAL}
    for happening, passed_s in happenings:
        at_s += passed_s
        values = {"in_force": in_force, **happening}
        in_force = values["in_force"] or in_force
        before = memory.incumbent
        memory, decision = decide(memory, Observation(at_s=at_s, unix_s=at_s, **values), allowed)
        assert decision.incumbent in earlier or is_mix(decision.incumbent, before, in_force)
        earlier.add(decision.incumbent)
        wanted = decision.pool_tuple
        if wanted is None:
            continue
        if wanted != decision.incumbent:
            size, oversubscribe, stall = wanted.core
            assert (1 <= size <= 16, 1 <= oversubscribe <= 8, 20 <= stall <= 6000) == (True, True, True)
            assert size * (1 + oversubscribe) <= 100
            assert wanted in earlier or all(
                abs(value - now) <= 1 or now / factor <= value <= now * factor
                for now, value in zip(decision.incumbent.core, wanted.core, strict=True)
            )
        in_force = wanted


@pytest.mark.parametrize("gain", [1e308, -1e308, math.inf, -math.inf, math.nan, MOST_GAIN * 1.01])
def test_gain_that_cannot_be_is_no_advice(gain: float) -> None:
    answer = Prediction(PoolTuple(4, 3, 500), INITIAL, False, ("told so",), "", expected_gain=gain)
    found = Proposal.of(answer, 0.0)
    assert (found.abstained, found.gain) == (True, None)


def test_tuple_of_a_person_beyond_the_ranges_is_left_where_it_is(drive: Callable[..., Drive]) -> None:
    def fallen(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) * (1.0 if at_s < 1000.0 else 0.3)

    tuner = drive(fallen, wanted=INITIAL, rules=rules(stand_down_s=1.0, most_oversubscribe=3))
    theirs = PoolTuple(2, 9, 500)
    tuner.run(3)
    tuner.turn(in_force=theirs, reading=None)
    tuner.run(400)
    assert {decision.pool_tuple for decision in tuner.decisions[4:]} == {theirs}
