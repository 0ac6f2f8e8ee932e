"""The statistics of an evaluation, against numbers worked out by hand."""

import numpy as np
import pytest

from poolpilot.pipelines.evaluate.statistics.outcomes import Headroom, Outcome
from poolpilot.pipelines.evaluate.statistics.regret_statistics import (
    gap_closed,
    harm,
    judged_by_seen,
    paired,
    risk_coverage,
    same_advice,
    summary,
)


def outcome(
    regret: float,
    workload: str = "w",
    *,
    family: str = "f",
    start: str = "default",
    value: float = 0.0,
    size: int = 1,
    abstained: bool = False,
    doubt: float | None = None,
    replay: int = 0,
    seen: bool = False,
) -> Outcome:
    return Outcome(workload, family, start, "method", (size, 3, 500), value, regret, abstained, doubt, replay, seen)


def test_a_summary_of_ten_regrets() -> None:
    found = summary([outcome(regret / 100) for regret in (0, 1, 2, 3, 4, 5, 6, 20, 30, 90)])
    assert found["regret_median"] == pytest.approx(0.045)
    assert found["regret_p90"] == pytest.approx(0.36)
    assert found["regret_mean"] == pytest.approx(0.161)
    assert found["cvar10"] == pytest.approx(0.9)
    assert found["within_5pct"] == pytest.approx(0.6)
    assert found["abstained"] == 0.0


def test_abstentions_are_counted() -> None:
    assert summary([outcome(0.1, abstained=True), outcome(0.1)])["abstained"] == 0.5


def test_a_paired_difference_pairs_workload_and_start() -> None:
    mine = [outcome(0.1, "a", start="default"), outcome(0.2, "a", start="size 4"), outcome(0.3, "b", family="g")]
    baseline = [outcome(0.6, "b", family="g"), outcome(0.5, "a", start="size 4"), outcome(0.4, "a", start="default")]
    mine, baseline = [*mine, outcome(0.1, "c", family="h")], [*baseline, outcome(0.4, "c", family="h")]
    found = paired(mine, baseline, resamples=200, seed=0)
    assert found.mean_difference == pytest.approx(-0.3)
    assert found.low == pytest.approx(-0.3)
    assert found.high == pytest.approx(-0.3)


def test_a_paired_difference_pairs_the_replay_too() -> None:
    mine = [outcome(0.1, replay=0), outcome(0.4, replay=1)]
    baseline = [outcome(0.3, replay=1), outcome(0.1, replay=0)]
    assert paired(mine, baseline, 100, 0).mean_difference == pytest.approx(0.05)


def test_the_interval_is_by_families_and_not_by_workloads() -> None:
    rng = np.random.default_rng(0)
    families = {"f": -0.2, "g": 0.0, "h": 0.2}
    mine, baseline = [], []
    for family, shift in families.items():
        for number in range(200):
            name, base = f"{family}{number}", float(rng.uniform(0, 0.1))
            mine.append(outcome(base + shift, name, family=family))
            baseline.append(outcome(base, name, family=family))
    found = paired(mine, baseline, resamples=2000, seed=0)
    assert found.mean_difference == pytest.approx(0.0, abs=1e-9)
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.1
    assert found.high > 0.1


@pytest.mark.parametrize("second", ["f", "g"])
def test_one_family_or_two_give_no_interval(second: str) -> None:
    mine, baseline = ([outcome(one, "a", family="f"), outcome(2 * one, "b", family=second)] for one in (0.1, 0.0))
    found = paired(mine, baseline, 200, 0)
    assert found.mean_difference == pytest.approx(0.15)
    assert found.low is None
    assert found.high is None


def test_gap_closed_where_there_is_headroom_and_harm_where_there_is_none() -> None:
    headrooms = {"steep": Headroom(1.0, 2.0, 0.1), "flat": Headroom(2.0, 2.1, 0.1)}
    outcomes = [outcome(0.0, "steep", value=1.75), outcome(0.0, "flat", value=2.0 + np.log(0.9))]
    assert gap_closed(outcomes, headrooms) == pytest.approx(0.75)
    assert harm(outcomes, headrooms) == pytest.approx(0.1)
    assert gap_closed(outcomes[1:], headrooms) is None
    assert harm(outcomes[:1], headrooms) is None


def test_same_advice_counts_workloads_with_one_tuple_from_every_start() -> None:
    steady = [outcome(0.0, "a", start=start, size=8) for start in ("default", "size 4")]
    torn = [outcome(0.0, "b", start=start, size=size) for start, size in (("default", 8), ("size 4", 16))]
    assert same_advice(steady + torn) == 0.5


def test_replays_of_a_workload_are_compared_each_on_its_own() -> None:
    assert same_advice([outcome(0.0, size=8, replay=0), outcome(0.0, size=16, replay=1)]) == 1.0


def test_choices_judged_by_what_was_seen_are_counted() -> None:
    assert judged_by_seen([outcome(0.0, seen=True), outcome(0.0), outcome(0.0), outcome(0.0)]) == 0.25


def test_risk_grows_with_coverage_when_doubt_is_honest() -> None:
    coverage, risk = risk_coverage(
        [outcome(0.3, doubt=0.9), outcome(0.0, doubt=0.1), outcome(0.6), outcome(0.1, doubt=0.5)]
    )
    np.testing.assert_allclose(coverage, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(risk, [0.0, 0.05, 0.4 / 3])
