"""What is shown of a report; two runs over the same files, and whether they agree."""

import math
from typing import Any

import pytest

from page_tables.file_tables import counted, in_two_runs, methods_table, scored_twice


def run(method: str, chosen: list[int], share: float, error: float) -> dict[str, Any]:
    return {"method": method, "chosen": chosen, "goodput_share": share, "error": error}


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


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


def test_the_signed_noise_floor_and_the_censored_workloads_are_named() -> None:
    found = report() | {
        "workloads": 2,
        "censored": {"scans": "does not repeat"},
        "noise": {"mean": -0.02, "low": None, "high": None, "largest": 0.3},
        "methods": {"default": {"with_long_classes": 1}},
    }
    assert counted({"native": found}) == (
        "* embedded pool: 2 workloads, 1 censored (`scans`), 1 with long classes; "
        "J of the default scored again less J of it: -2.0 % (-; largest 30.0 %)\n"
    )


def test_a_tuple_is_compared_whichever_method_named_it_but_not_the_reference_with_itself() -> None:
    named, default = sorted(scored_twice(FIRST, SECOND))
    assert named == pytest.approx((math.log(0.95 / 0.90), 0.05))
    assert default == pytest.approx((math.log(0.60 / 0.50), 0.01 * 2**0.5))


def test_two_runs_are_compared_by_what_both_have_scored_and_by_two_methods() -> None:
    first = FIRST | {"methods": {"warm_start": {"goodput_share_mean": 1.0}}}
    second = SECOND | {"methods": {"warm_start": {"goodput_share_mean": 0.9}}}
    line = in_two_runs({"native": first}, {"native": second}).splitlines()[-1]
    assert cells(line) == ["embedded pool", "2", "1", "12.5 %", "1.00, 0.90", "-, -"]


def test_runs_without_a_configuration_in_common_are_counted_as_none() -> None:
    other = report(run("default", [1, 3, 10], 0.5, 0.1))
    assert cells(in_two_runs({"native": FIRST}, {"native": other}).splitlines()[-1])[1:4] == ["0", "0", "-"]


def test_method_that_the_last_run_left_out_has_the_figures_of_the_run_before_and_a_star() -> None:
    row = {"goodput_share_mean": 0.9, "unsafe": 0.1, "regret_mean": 0.1}
    last, before = ({"methods": {name: row for name in names}} for names in (["cold"], ["cold", "gp_ucb"]))
    lines = methods_table({"simulated": last, "mariadb": last}, {"mariadb": before}).splitlines()[2:]
    assert [cells(line)[:2] + cells(line)[3:4] for line in lines] == [
        ["`cold`", "0.90", "0.90"],
        ["`gp_ucb`", "-", r"0.90\*"],
    ]


def test_the_lead_over_three_constants_is_of_the_live_servers() -> None:
    shares = {"portfolio_3": 0.5, "ppo_3": 0.9}
    found = report(*(run(name, [4, 3, 10], share, 0.0) for name, share in shares.items())) | {"censored": {}}
    rows = {name: {"goodput_share_mean": share, "regret_mean": 1.0 - share} for name, share in shares.items()}
    found["methods"] = rows
    simulated = found | {"methods": {**rows, "cold": rows["ppo_3"]}}
    lines = methods_table({"simulated": simulated, "native": found}).splitlines()[2:]
    assert {cells(line)[0]: cells(line)[-1] for line in lines} == {
        "`ppo_3`": "+0.40 (-)",
        "`portfolio_3`": "-",
        "`cold`": "-",
    }
