"""The constant that may be set untried is named with what was measured of it, and only where it was."""

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.presentation import neutral_choice as chosen
from poolpilot.serve.commands.presentation.neutral_choice import NEUTRAL, neutral_choice

REPORTS = Path(__file__).parents[4] / "benchmarks" / "reports"
DEFAULT = PoolTuple(2, 3, 500)


def losses_of(method: str) -> list[float]:
    """What a method lost to the default on each workload of the suite that lasts, as it was read first, as a share."""
    rows: dict[str, dict[str, Any]] = {}
    for report in sorted(REPORTS.glob("mariadb_suite*.json")):
        for row in json.loads(report.read_text(encoding="utf-8"))["cells"]:
            rows.setdefault(row["workload"], row)
    lasting = [row for row in rows.values() if row["expected"]["verdict"] != "abstain"]
    return [row["methods"][method]["difference"]["loss"] for row in lasting]


@pytest.mark.parametrize(
    ("method", "gain", "loss"),
    [
        ("constant_16_3_10", *chosen.GAIN_AND_LOSS[chosen.NEUTRAL]),
        ("constant_4_3_10", *chosen.GAIN_AND_LOSS[chosen.NEAR]),
        ("warm_start", chosen.TRIED_MEDIAN_GAIN, chosen.TRIED_LARGEST_LOSS),
    ],
)
def test_its_worth_is_what_the_suite_measured(method: str, gain: float, loss: float) -> None:
    losses = losses_of(method)
    assert len(losses) == chosen.WORKLOADS
    assert round(-median(losses), 2) == gain
    assert round(max(losses), 2) == loss


def test_it_is_named_with_its_worth_and_that_of_trying() -> None:
    said = neutral_choice(KnobSpace.stock(2), DEFAULT)
    assert said is not None
    assert said.startswith("(16, 3, 10) over the default gained 11 % in the median of 56 workloads")
    assert "poolpilot climb --warm gained 7 % and lost 5 % at most" in said


def test_where_long_statements_have_a_floor_the_constant_that_kept_it_is_named() -> None:
    said = neutral_choice(KnobSpace.stock(2), DEFAULT, near=True)
    assert said is not None
    assert said.startswith("(4, 3, 10) over the default gained 6 % in the median of 56 workloads")


@pytest.mark.parametrize(
    ("limits", "in_force"),
    [
        (KnobSpace.stock(8), PoolTuple(8, 3, 500)),
        (KnobSpace(None, KnobSpace.stock(2).knobs), DEFAULT),
        (KnobSpace.stock(2, max_pool_size=8), DEFAULT),
        (KnobSpace.stock(2), DEFAULT.with_core(NEUTRAL)),
    ],
)
def test_where_it_was_not_measured_or_is_in_force_there_is_none(limits: KnobSpace, in_force: PoolTuple) -> None:
    assert neutral_choice(limits, in_force) is None
