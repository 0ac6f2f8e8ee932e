"""Two runs over the same files: which tuples were scored in both, and whether they agree."""

from typing import Any

import pytest

from file_tables import in_two_runs, scored_twice


def run(method: str, chosen: list[int], share: float, error: float) -> dict[str, Any]:
    return {"method": method, "chosen": chosen, "goodput_share": share, "error": error}


def report(*runs: dict[str, Any], regret: float = 0.1, **others: list[dict[str, Any]]) -> dict[str, Any]:
    cold = {"regret_mean": regret, "regret_mean_low": regret - 0.05, "regret_mean_high": regret + 0.05}
    results = [{"workload": name, "runs": found} for name, found in {"reads": [*runs], **others}.items()]
    return {"results": results, "methods": {"cold": cold, "reference": cold}}


FIRST = report(
    run("reference", [8, 3, 10], 1.0, 0.0),
    run("cold", [4, 3, 10], 0.90, 0.03),
    run("default", [2, 3, 500], 0.50, 0.01),
    run("default_again", [2, 3, 500], 0.20, 0.01),
)
SECOND = report(
    run("reference", [8, 3, 10], 1.0, 0.0),
    run("warm_start", [4, 3, 10], 0.95, 0.04),
    run("default", [2, 3, 500], 0.60, 0.01),
    run("cold", [16, 3, 10], 0.99, 0.01),
    regret=0.25,
    writes=[run("default", [4, 3, 10], 0.40, 0.01)],
)


def test_a_tuple_is_compared_whichever_method_named_it_but_not_the_reference_with_itself() -> None:
    named, default = sorted(scored_twice(FIRST, SECOND))
    assert named == pytest.approx((0.05, 0.05))
    assert default == pytest.approx((0.1, 0.01 * 2**0.5))


def test_the_table_counts_intervals_and_tuples_that_agree() -> None:
    lines = in_two_runs({"native": FIRST}, {"native": SECOND}).splitlines()
    cells = [cell.strip() for cell in lines[-1].strip("|").split("|")]
    assert cells == ["embedded pool", "0 of 1", "15.0", "2", "1", "7.5"]


def test_runs_without_a_tuple_in_common_are_counted_as_none() -> None:
    other = report(run("default", [1, 3, 10], 0.5, 0.1))
    cells = [cell.strip() for cell in in_two_runs({"native": FIRST}, {"native": other}).splitlines()[-1].split("|")]
    assert cells[4:7] == ["0", "0", "-"]
