"""A workload whose reference does not repeat judges nobody, whatever methods chose."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import Core, SweepEntry, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import StoreError
from poolpilot.pipelines.evaluate.censored_sweeps import censored_sweeps, reason_to_censor

DEFAULT, MIDDLE, LARGE = (1, 3, 500), (4, 3, 500), (16, 3, 500)
STEADY = {DEFAULT: [500, 505], MIDDLE: [900, 905], LARGE: [1000, 1010, 990]}


def sweep_of(rates: Mapping[Core, Sequence[int]], again: Sequence[int]) -> WorkloadSweep:
    """A sweep of the rates of each tuple; the one measured most often is the reference."""
    entries = {
        core: SweepEntry((), tuple(float(one) for one in np.log(each)), last_round=len(each) - 1)
        for core, each in rates.items()
    }
    afresh = tuple(float(one) for one in np.log(again))
    return WorkloadSweep("work-1", "work", "test", KnobSpace.stock(1), Objective(), entries, afresh)


def test_workload_that_repeats_judges() -> None:
    assert reason_to_censor(sweep_of(STEADY, [1000, 1010, 990])) is None
    assert censored_sweeps([sweep_of(STEADY, [1000])]) == {}


@pytest.mark.parametrize(
    ("rates", "again", "reason"),
    [
        (
            {DEFAULT: [500, 900], MIDDLE: [1500, 900], LARGE: [1000, 1400]},
            [1000],
            "windows of one configuration differ",
        ),
        (STEADY, [500, 505, 495], r"differs from itself by \+69% when measured afresh"),
        (
            {DEFAULT: [500], MIDDLE: [1150, 1240, 1245, 1250], LARGE: 4 * [1225]},
            [1112, 1110, 1112],
            r"\(4, 3, 500\) is better than the reference by 11%",
        ),
    ],
)
def test_workload_that_does_not_repeat_is_censored_with_its_reason(
    rates: Mapping[Core, Sequence[int]], again: Sequence[int], reason: str
) -> None:
    found = censored_sweeps([sweep_of(rates, again)])
    assert list(found) == ["work-1"]
    assert re.search(reason, found["work-1"])


def test_infeasible_tuple_is_no_better_one() -> None:
    sweep = sweep_of({MIDDLE: [1150, 1240, 1245, 1250], LARGE: 4 * [1225]}, [1112, 1110, 1112])
    entries = {**sweep.entries, MIDDLE: replace(sweep.entries[MIDDLE], feasible=False)}
    assert reason_to_censor(replace(sweep, entries=entries)) is None


def test_reference_never_measured_again_is_refused() -> None:
    with pytest.raises(StoreError, match="was not measured again"):
        reason_to_censor(sweep_of(STEADY, []))
