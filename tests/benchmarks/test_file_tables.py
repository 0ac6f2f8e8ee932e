"""What is kept of a report and shown of it; two runs over the same files, and whether they agree."""

import math
from typing import Any

import pytest

from file_tables import below_default, costs_table, counted, in_two_runs, kept, methods_table, pairs_table, scored_twice


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


def test_noise_and_the_reason_of_a_censored_workload_are_kept_with_it() -> None:
    found = {
        "workload": "reads",
        "noise": 0.1,
        "noise_error": 0.02,
        "censored": "does not repeat",
        "family": "composed",
    }
    reference = {**run("reference", [8, 3, 10], 1.0, 0.0), "broken": [], "in_time": 0.5, "value": 7.0}
    (row,) = kept([{**found, "runs": [reference]}])
    runs = [{name: value for name, value in reference.items() if name not in ("value", "in_time")}]
    assert row == found | {"in_time": 0.5, "runs": runs}


def test_goodputs_below_the_default_are_counted_where_the_workload_is_not_censored() -> None:
    low = [run("default", [2, 3, 500], 0.5, 0.0), run("cold", [4, 3, 10], 0.47, 0.0)]
    near = [run("default", [2, 3, 500], 0.5, 0.0), run("cold", [4, 3, 10], 0.48, 0.0)]
    found = report(*low, writes=near, scans=low) | {"censored": {"scans": "does not repeat"}}
    assert below_default(found, "cold") == "1 of 2"


def test_costs_stand_beside_the_signed_noise_floor_and_the_censored_workloads() -> None:
    ratios = {"p99_ratio_short": 0.9, "p99_ratio_long": None, "long_share": 0.55, "with_long_classes": 1}
    costs = {**ratios, "threads": 40.2, "trying_regret": None, "error_mean": 0.02, "regret_mean": 0.1}
    runs = [run(name, [2, 3, 500], 0.5, 0.0) for name in ("default", "cold")]
    found = report(*runs) | {
        "workloads": 2,
        "censored": {"scans": "does not repeat"},
        "noise": {"mean": -0.02, "low": None, "high": None, "largest": 0.3},
        "methods": {"default": costs, "cold": costs},
    }
    assert counted({"native": found}) == (
        "* embedded pool: 2 workloads, 1 censored (`scans`), 1 with long classes; "
        "J of the default scored again less J of it: -2.0 % (-; largest 30.0 %)\n"
    )
    assert cells(costs_table({"native": found}).splitlines()[2]) == [
        "embedded pool",
        "`cold`",
        "0.90",
        "-",
        "0.55",
        "0 of 1",
        "40",
        "-",
        "2.0 %",
    ]


def test_a_tuple_is_compared_whichever_method_named_it_but_not_the_reference_with_itself() -> None:
    named, default = sorted(scored_twice(FIRST, SECOND))
    assert named == pytest.approx((math.log(0.95 / 0.90), 0.05))
    assert default == pytest.approx((math.log(0.60 / 0.50), 0.01 * 2**0.5))


def test_the_table_counts_intervals_and_tuples_that_agree() -> None:
    lines = in_two_runs({"native": FIRST}, {"native": SECOND}).splitlines()
    assert cells(lines[-1]) == ["embedded pool", "0 of 1", "15.0", "2", "1", "12.5 %"]


def test_runs_without_a_tuple_in_common_are_counted_as_none() -> None:
    other = report(run("default", [1, 3, 10], 0.5, 0.1))
    assert cells(in_two_runs({"native": FIRST}, {"native": other}).splitlines()[-1])[3:6] == ["0", "0", "-"]


def test_method_that_the_last_run_left_out_has_the_figures_of_the_run_before_and_a_star() -> None:
    known = {"goodput_share_mean": 0.9, "unsafe": 0.1, "regret_mean": 0.1, "regret_mean_low": None}
    row = known | {"regret_mean_high": None}
    last, before = ({"methods": {name: row for name in names}} for names in (["cold"], ["cold", "gp_ucb"]))
    lines = methods_table({"native": last, "mariadb": last}, {"mariadb": before}).splitlines()[2:]
    assert [cells(line)[:2] + cells(line)[4:5] for line in lines] == [
        ["`cold`", "0.90", "0.90"],
        ["`gp_ucb`", "-", r"0.90\*"],
    ]


def test_networks_of_reinforcement_learning_stand_beside_that_of_the_exact_loss_with_their_features() -> None:
    shares = {"portfolio_3": 0.5, "ppo_3": 0.9, "all_action_3": 0.8, "ppo_ratios_3": 0.4, "all_action_ratios_3": 0.6}
    found = report(*(run(name, [4, 3, 10], share, 0.0) for name, share in shares.items())) | {"censored": {}}
    found["methods"] = {name: {"regret_mean": 1.0 - share} for name, share in shares.items()}
    rows = [cells(line) for line in pairs_table({"native": found}).splitlines()]
    assert rows[0][3:] == [
        "than the network of the exact loss: embedded pool",
        "than the network of the exact loss: both",
    ]
    assert {row[0]: (row[1], row[3]) for row in rows[2:]} == {
        "`ppo_3`": ("+0.40 (-)", "+0.10 (-)"),
        "`all_action_3`": ("+0.30 (-)", "-"),
        "`all_action_ratios_3`": ("+0.10 (-)", "-"),
        "`ppo_ratios_3`": ("-0.10 (-)", "-0.20 (-)"),
    }
