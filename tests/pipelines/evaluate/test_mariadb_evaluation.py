"""Live cells add up to regrets, verdicts and intervals that a calculation by hand confirms."""

import math
from typing import Any

import numpy as np
import pytest

from poolpilot.pipelines.evaluate.mariadb_cell import LiveCell, core_name, core_of
from poolpilot.pipelines.evaluate.mariadb_evaluation import ORACLE_AGAIN, LiveEvaluation

DEFAULT, STATIC, BEST = "2,3,500", "16,3,10", "4,3,10"


def cell(workload: str, family: str, **values: tuple[float, ...]) -> LiveCell:
    worth = {DEFAULT: (1.0, 1.1, 0.9, 1.0), STATIC: (2.0, 2.1, 1.9, 2.0), BEST: (2.2, 2.3, 2.1, 2.2), **values}
    chosen = {"default": DEFAULT, "sbs": STATIC, "static_16_3_10": STATIC, "predicted": BEST, "oracle": BEST}
    return LiveCell(
        workload=workload,
        family=family,
        chosen=chosen,
        abstained=(),
        values=worth,
        goodputs={core: tuple(map(math.exp, each)) for core, each in worth.items()},
        feasible={DEFAULT: 1.0, STATIC: 0.25, BEST: 1.0},
        classes={core: {"short": 1.0} for core in worth},
        seconds={"refined": 3.0, "cold": None},
        lost={"refined": 1.0, "cold": 9.0},
    )


def flat(workload: str, family: str) -> LiveCell:
    noisy = {DEFAULT: (1.0, 1.2, 0.8, 1.0), STATIC: (0.9, 1.3, 0.7, 1.1), BEST: (1.0, 1.2, 0.8, 1.0)}
    return cell(workload, family, **noisy)


@pytest.fixture
def evaluation() -> LiveEvaluation:
    return LiveEvaluation([cell("a", "one"), cell("b", "two"), flat("c", "three")], resamples=200)


def test_regret_is_the_share_lost_against_the_oracle(evaluation: LiveEvaluation) -> None:
    regrets = [outcome.regret for outcome in evaluation.outcomes["default"]]
    assert regrets[0] == pytest.approx(1.0 - math.exp(-1.2))
    assert all(outcome.regret == 0.0 for outcome in evaluation.outcomes["predicted"])


def test_noise_floor_is_the_oracle_against_itself(evaluation: LiveEvaluation) -> None:
    values = (2.2, 2.3, 2.1, 2.2)
    halves = np.mean(values[::2]), np.mean(values[1::2])
    assert evaluation.outcomes[ORACLE_AGAIN][0].regret == pytest.approx(1.0 - math.exp(min(halves) - max(halves)))


def test_headroom_needs_more_than_twice_the_noise(evaluation: LiveEvaluation) -> None:
    assert [evaluation.has_headroom(one) for one in evaluation.cells] == [True, True, False]
    report = evaluation.as_dict()
    assert report["with_headroom"] == ["a", "b"]
    assert report["paired"]["vs_sbs_headroom"]["predicted"]["mean_difference"] == pytest.approx(
        -(1.0 - math.exp(-0.2)), abs=1e-9
    )


def test_choice_far_better_than_the_default_is_shown_to_be_no_worse(evaluation: LiveEvaluation) -> None:
    verdicts = evaluation.non_inferiority()
    assert verdicts["a"].holm
    assert verdicts["a"].gain == pytest.approx(1.2)


def test_noise_alone_shows_nothing_and_the_same_tuple_is_never_worse() -> None:
    wild: dict[str, Any] = {BEST: (0.2, 2.3, 0.1, 1.4)}
    doubtful = LiveEvaluation([cell("a", "one", **wild)]).non_inferiority()["a"]
    assert not doubtful.holm
    same = LiveEvaluation([cell("a", "one")]).non_inferiority("default")["a"]
    assert (same.same, same.p_value, same.holm) == (True, 0.0, True)


def test_holm_is_stricter_than_each_test_alone() -> None:
    close = (0.96, 1.05, 0.97, 1.04)
    cells = [cell(name, name, **{BEST: close}) for name in "abcdefgh"]
    alone = LiveEvaluation(cells[:1]).non_inferiority()["a"]
    together = LiveEvaluation(cells).non_inferiority()["a"]
    assert alone.p_value == together.p_value
    assert alone.holm >= together.holm


def test_methods_tell_constraints_and_arrivals(evaluation: LiveEvaluation) -> None:
    methods = evaluation.as_dict()["methods"]
    assert methods["sbs"]["feasible"] == 0.0
    assert methods["predicted"]["feasible"] == 1.0
    assert evaluation.table().row_count == len(evaluation.methods)


def test_cell_survives_its_file() -> None:
    one = cell("a", "one")
    assert LiveCell.from_dict(one.as_dict()) == one


def test_core_survives_its_name() -> None:
    assert core_of(core_name((16, 3, 10))) == (16, 3, 10)
