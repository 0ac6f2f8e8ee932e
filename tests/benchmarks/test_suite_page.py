"""What one look comes to over all draws, and which workloads are censored."""

import math
from typing import Any

import pytest

from suite_page import all_draws, beside_hot_rows, fewer_first, methods_table, read_once

STAYED = {"loss": 0.0, "low": 0.0, "high": 0.0, "detectable": 0.0, "rounds": 4}


def cell(workload: str, verdict: str, outcome: str = "right", **others: Any) -> dict[str, Any]:
    difference = {**STAYED, **others.pop("difference", {})}
    live = {"censored": None, "noise": 0.0, "noise_error": 0.01, **others}
    return {
        "workload": workload,
        "expected": {"verdict": verdict},
        "reference": {"difference": STAYED},
        "methods": {"advice": {"outcome": outcome, "difference": difference}},
        "live": live,
    }


REPORTS = {
    "": {"cells": [cell("scans-0", "change", "wrong"), cell("reads-0", "flat", noise=0.03)]},
    "third": {
        "cells": [
            cell("scans-2", "change", difference={"loss": -0.2, "low": -0.3, "high": -0.1}),
            cell("reads-2", "flat", difference={"loss": -0.01, "low": -0.03, "high": 0.012, "detectable": 0.031}),
            cell("storms-2", "flat", difference={"loss": 0.06, "low": 0.02, "high": 0.1, "detectable": 0.07}),
        ]
    },
    "third_paced": {"cells": [cell("scans-2", "change", "wrong"), cell("locks-2", "hold", censored="no")]},
}


def test_workloads_that_were_read_twice_count_as_they_were_read_first() -> None:
    rows = read_once(REPORTS)
    names = ["locks-2", "reads-0", "reads-2", "scans-0", "scans-2", "storms-2"]
    assert sorted(row["workload"] for row in rows) == names
    assert [row["methods"]["advice"]["outcome"] for row in rows if row["workload"] == "scans-2"] == ["right"]


def test_all_draws_say_what_one_look_is_right_in_what_it_may_have_lost_and_how_the_default_differs() -> None:
    not_flat, flat, noise = all_draws(REPORTS).splitlines()
    assert "right in 2 of 3 (9 to 99 % at 95 %; 1 of 2 without censored ones) workloads of all draws" in not_flat
    assert "in 2 of 2 (16 to 100 % at 95 %; 1 of 1 without censored ones) of the third alone" in not_flat
    assert "on 1 of 3 workloads one look stayed" in flat
    assert "On 2 it moved; the largest upper bound of a loss there is 10.0 %" in flat
    assert "show a loss of 3.1 to 7.0 % with a probability of 80 %; on 1 of them that is more than 5 %." in flat
    assert "1 of 7 pairs differ by more than two standard errors; by chance 1 would" in noise


@pytest.mark.parametrize(("censored", "words"), [(None, "Censored: 0 of 1."), ("no", "Censored: 1 of 1 (`reads-0`).")])
def test_censored_workloads_are_named_under_the_table(censored: str | None, words: str) -> None:
    counts = {f"{kind}{end}": 1 for kind in ("change", "stay", "flat") for end in ("", "_right")}
    found = {**counts, "flat_not_shown": 0, "flat_wrong": 0, "floors_broken": 0, "largest_loss": 0.06, "gain": 1.2}
    rows = [cell("reads-0", "flat", difference={"loss": 0.06}, censored=censored)]
    head, _, advice, _, last = methods_table({"advice": found}, rows).splitlines()
    titles, cells = ([one.strip() for one in line.strip("|").split("|")] for line in (head, advice))
    assert dict(zip(titles, cells, strict=True))["> 5 % below the default"] == "1"
    assert last == words


def test_what_runs_beside_hot_rows_has_a_line_each() -> None:
    waits = {"waits_per_statement": 0.019, "waits_per_write": 0.3, "waiting_share": 0.27}
    gains = {"step": -0.5, "step_error": 0.02, "fewer": 0.4, "fewer_error": 0.03}
    reads = {"workload": "reads", "waits_per_statement": 0.0, "waits_per_write": None, "waiting_share": 0.0}
    rows = [{"workload": "tickets", **waits, "advised": None, **gains}, {**reads, "advised": [4, 3, 10], **gains}]
    _, _, tickets, reading = beside_hot_rows({"rows": rows}).splitlines()
    assert tickets == "| `tickets` | 0.019 | 0.300 | 27 % | stays | -39 % (error 2 %) | 49 % (error 3 %) |"
    assert reading.startswith("| `reads` | 0.000 | - | 0 % | (4, 3, 10) |")


def test_what_fewer_groups_first_bring_has_a_line_each_and_a_mean() -> None:
    def ended(gain: float) -> dict[str, object]:
        return {"core": [1, 3, 500], "gain": math.log(gain), "error": 0.02}

    rows = [
        {"workload": name, "methods": {"fewer_first": ended(2.0), "by_curves": ended(1.0), "constants": ended(gain)}}
        for name, gain in (("bids", 2.0), ("bookings", 0.5))
    ]
    _, _, bids, _, mean = fewer_first({"rows": rows}).splitlines()
    assert bids.startswith("| `bids` | (1, 3, 500) 100 % (error 2 %) | (1, 3, 500) 0 % (error 2 %) |")
    assert mean == "| all, mean | x2.00 | x1.00 | x1.00 |"
