"""Differences are judged anew by today's rule of intervals, whatever the report was made with."""

from typing import Any

import pytest

from mariadb_page import headroom_section, methods_section
from poolpilot.pipelines.evaluate.mariadb_cell import LiveCell

CHOSEN = {
    "default": "2,3,500",
    "sbs": "4,3,10",
    "static_16_3_10": "16,3,10",
    "predicted": "4,3,10",
    "refined": "8,3,10",
    "oracle": "8,3,10",
}
VALUES = {"2,3,500": 1.0, "4,3,10": 1.5, "16,3,10": 0.9, "8,3,10": 2.0}


def report(families: int) -> dict[str, Any]:
    """So many families of two cells each, all with headroom, with an interval that was stored when it was made."""
    cells = [
        LiveCell(
            workload=f"f{family}-{number}",
            family=f"f{family}",
            chosen=CHOSEN,
            abstained=(),
            values={core: (value + 0.01 * family, value - 0.01 * number) for core, value in VALUES.items()},
            goodputs={core: (1.0, 1.0) for core in VALUES},
            feasible=dict.fromkeys(VALUES, 1.0),
            classes={core: {} for core in VALUES},
            seconds={},
            lost={},
        ).as_dict()
        for family in range(families)
        for number in range(2)
    ]
    row = dict.fromkeys(("regret_median", "regret_p90", "within_5pct", "feasible"), 0.0)
    stored = {"mean_difference": -0.5, "low": -0.6, "high": -0.4}
    return {
        "cells": cells,
        "methods": {name: {**row, "arrived": None, "seconds_median": None} for name in (*CHOSEN, "oracle_again")},
        "with_headroom": [cell["workload"] for cell in cells],
        "paired": {"vs_sbs_headroom": {"refined": stored}},
    }


def cells_of(table: str, method: str) -> dict[str, str]:
    head, _, *rows = ([one.strip() for one in line.strip("|").split("|")] for line in table.splitlines())
    (found,) = [row for row in rows if method in row]
    return dict(zip(head, found, strict=True))


@pytest.mark.parametrize(("families", "has_interval"), [(2, False), (3, True)])
def test_no_interval_from_two_families_though_the_report_has_one(families: int, has_interval: bool) -> None:
    shown = cells_of(headroom_section(report(families)), "warm_start")["to SBS, points"]
    assert shown.startswith("-39.")
    assert ("(" in shown) == has_interval


def test_methods_below_the_default_are_counted_but_halves_of_the_oracle_are_no_choice() -> None:
    table, title = methods_section(report(2)), "> 5 % below the default"
    assert [cells_of(table, name)[title] for name in ("static_16_3_10", "default")] == ["4 of 4", "0 of 4"]
    assert cells_of(table, "oracle_again")[title] == "-"
