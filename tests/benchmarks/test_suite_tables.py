"""What the methods come to over all draws, and how sure that is."""

from typing import Any

from page_tables.suite_tables import (
    SHOWN,
    checks_table,
    methods_table,
    read_once,
    workloads_table,
)

STAYED = {"loss": 0.0, "low": 0.0, "high": 0.0, "detectable": 0.0, "rounds": 4}


def cell(read: str, workload: str, verdict: str, outcome: str = "right", **others: Any) -> dict[str, Any]:
    difference = {**STAYED, **others.pop("difference", {})}
    live = {"censored": None, "noise": 0.0, "noise_error": 0.01, **others}
    return {
        "read": read,
        "workload": workload,
        "expected": {"verdict": verdict},
        "reference": {"difference": STAYED},
        "methods": {"advice": {"outcome": outcome, "difference": difference}},
        "live": live,
    }


CELLS = [
    cell("first", "scans-0", "change", "wrong"),
    cell("first", "reads-0", "flat", noise=0.03),
    cell("third", "scans-2", "change", difference={"loss": -0.2, "low": -0.3, "high": -0.1}),
    cell("third", "reads-2", "flat", difference={"loss": -0.01, "low": -0.03, "high": 0.012, "detectable": 0.031}),
    cell("third", "storms-2", "flat", difference={"loss": 0.06, "low": 0.02, "high": 0.1, "detectable": 0.07}),
    cell("third_paced", "scans-2", "change", "wrong"),
    cell("third_paced", "locks-2", "hold", censored="no"),
]


def test_workloads_that_were_read_twice_count_as_they_were_read_first() -> None:
    rows = read_once(CELLS)
    names = ["locks-2", "reads-0", "reads-2", "scans-0", "scans-2", "storms-2"]
    assert sorted(row["workload"] for row in rows) == names
    assert [row["methods"]["advice"]["outcome"] for row in rows if row["workload"] == "scans-2"] == ["right"]


def test_checks_say_how_often_the_advice_is_right_what_it_may_have_lost_and_how_the_default_differs() -> None:
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in checks_table({"cells": CELLS}).splitlines()
    ]
    assert lines[0] == ["question", "all draws", "third draw"]
    assert [tuple(cells[1:]) for cells in lines[2:]] == [
        ("2 of 3 (9 to 99 %)", "2 of 2 (16 to 100 %)"),
        ("1 of 2", "1 of 1"),
        ("1 of 3", "0 of 2"),
        ("10.0 %", "10.0 %"),
        ("3.1 to 7.0 %", "3.1 to 7.0 %"),
        ("1 of 7", "0 of 5"),
        ("1", "1"),
        ("1 of 6", "1 of 4"),
    ]


def test_methods_have_a_line_each_with_their_draws_and_what_breaks_a_floor_gains_nothing() -> None:
    stayed = {"outcome": "right", "difference": STAYED, "floors_broken": []}
    broke = {"outcome": "wrong", "difference": {**STAYED, "loss": -3.0}, "floors_broken": ["scans"]}
    lost = {"outcome": "wrong", "difference": {**STAYED, "loss": 0.06}, "floors_broken": []}
    gained = {"outcome": "right", "difference": {**STAYED, "loss": -1.0}, "floors_broken": []}
    rows = [
        {"workload": name, "expected": {"verdict": verdict}, "methods": dict.fromkeys(SHOWN, found)}
        for name, verdict, found in (
            ("scans-18-0", "change", broke),
            ("calls-18-1", "change", gained),
            ("reads-18-1", "flat", lost),
            ("locks-18-2", "hold", stayed),
            ("table-18-2", "abstain", lost),
        )
    ]
    cells = [cell.strip() for cell in methods_table(rows).splitlines()[2].strip("|").split("|")]
    assert cells[1:] == ["0 of 1", "1 of 1", "0 of 0", "1 of 2", "0 of 1", "1", "2", "6 %", "x1.12"]


def test_families_have_a_line_each_with_the_means_of_their_draws() -> None:
    def row(loss: float, true: str) -> dict[str, Any]:
        found = {"outcome": "right", "difference": {**STAYED, "loss": loss}, "floors_broken": []}
        return {"family": "remote_calls", "came_true": true, "reference": found, "methods": {"advice": found}}

    _, _, line = workloads_table([row(-7.0, "yes"), row(-1.0, "not shown")]).splitlines()
    assert line.startswith("| `remote_calls` (sealed) | ")
    assert line.endswith(" | more threads | 1 of 2 | 2 of 2 | x4.0 | x4.0 |")
