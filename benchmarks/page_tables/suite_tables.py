"""The tables of docs/results-suite.md. What was measured twice counts as it was read first."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from page_tables.part import Part, percent, table
from poolpilot.env.workloads.family import Split
from suite.expectations import EXPECTATIONS
from suite.judgement import ADVICE, MARGIN
from suite.suite_cells import DRAWS as NUMBER_OF_DRAWS
from suite.suite_cells import SUITE

KINDS: Mapping[Split, str] = {"train": "open", "validation": "new", "test": "sealed"}
"""What the page calls families that methods may have learned from, whose composition is new, and that are sealed."""

TEST = "third"
"""The draw that no rule was made by; its readings are called so."""

KINDS_OF_RIGHT = {"change": ("change",), "stay": ("abstain", "hold"), "flat": ("flat",)}
"""What is counted apart, by the verdicts that were written down."""

SHOWN = {
    "advice": "`advise`",
    "warm_start": "`climb --warm`",
    "portfolio_3": "three constants in turn",
    "constant_16_3_10": "constant (16, 3, 10)",
    "constant_4_3_10": "constant (4, 3, 10)",
}
"""How the page calls the methods, in the order of its lines."""

TIMES = 2.0
"""Mean gains from so many times on have one digit behind the point, smaller ones two."""

ERRORS = 2.0
"""So many standard errors are within what measuring explains."""

Row = Mapping[str, Any]
"""One workload with what every method chose."""


def methods_part(report: Mapping[str, Any]) -> str:
    """What each method comes to, over all draws."""
    return methods_table(read_once(report["cells"]))


def workloads_part(report: Mapping[str, Any]) -> str:
    """The families, over all draws."""
    return workloads_table(read_once(report["cells"]))


def read_once(cells: Sequence[Row]) -> list[Row]:
    """The workloads, each as it was read first; cells are in the order in which they were read."""
    rows: dict[str, Row] = {}
    for cell in cells:
        rows.setdefault(cell["workload"], cell)
    return list(rows.values())


def methods_table(rows: Sequence[Row]) -> str:
    """What each method comes to by what was written down; one that breaks a floor gains as the default."""
    draws = [f"draw {draw + 1}" for draw in range(NUMBER_OF_DRAWS)]
    heads = ("method", *(f"to change: right, {draw}" for draw in draws), "to stay: right", "flat: right")
    last = ("floors broken", "> 5 % below the default", "largest loss", "mean gain")
    by_draw = [[row for row in rows if draw_of(row) == draw] for draw in range(NUMBER_OF_DRAWS)]
    lines = []
    for name, title in SHOWN.items():
        below = sum(row["methods"][name]["difference"]["loss"] > MARGIN for row in rows)
        change, *others = KINDS_OF_RIGHT
        rights = [*(right_of_kind(each, name, change) for each in by_draw)]
        rights += [right_of_kind(rows, name, kind) for kind in others]
        broken = str(sum(bool(row["methods"][name]["floors_broken"]) for row in rows))
        mean = f"x{mean_gain([row['methods'][name] for row in rows]):.2f}"
        lines.append((title, *rights, broken, str(below), largest_loss(rows, name), mean))
    return table((*heads, *last), lines)


def draw_of(row: Row) -> int:
    """The number of the draw, which ends a workload's name, from 0."""
    return int(row["workload"].rpartition("-")[2])


def right_of_kind(rows: Sequence[Row], name: str, kind: str) -> str:
    """On how many of the workloads of one kind a method is right."""
    verdicts = KINDS_OF_RIGHT[kind]
    right, number = right_of([row for row in rows if row["expected"]["verdict"] in verdicts], name)
    return f"{right} of {number}"


def largest_loss(rows: Sequence[Row], name: str) -> str:
    """The largest loss to the default where what is seen lasts: not while a table changes or a backup runs."""
    lasting = [row["methods"][name]["difference"] for row in rows if row["expected"]["verdict"] != "abstain"]
    return f"{100 * max(0.0, *(one['loss'] for one in lasting)):.0f} %"


def mean_gain(choices: Sequence[Mapping[str, Any]]) -> float:
    """The geometric mean of gains over the default; a choice that breaks a floor is taken to have stayed there."""
    kept = [one for one in choices if not one["floors_broken"]]
    return math.exp(sum(math.log1p(-one["difference"]["loss"]) for one in kept) / len(choices))


def checks_table(report: Mapping[str, Any]) -> str:
    """How sure the advice is, and the measurement: a line for each question, over all draws and the last one."""
    test = [cell for cell in report["cells"] if cell["read"].startswith(TEST)]
    columns = [checks(each) for each in (report["cells"], test)]
    rows = [(question, *(column[question] for column in columns)) for question in columns[0]]
    return table(("question", "all draws", f"{TEST} draw"), rows)


def checks(measured: Sequence[Row]) -> Mapping[str, str]:
    """The answers of some draws."""
    rows = read_once(measured)
    not_flat = [row for row in rows if row["expected"]["verdict"] != "flat"]
    held = [row for row in not_flat if row["live"]["censored"] is None]
    advised = [row["methods"][ADVICE]["difference"] for row in rows if row["expected"]["verdict"] == "flat"]
    moved = [one for one in advised if not stays(one)]
    beyond, by_chance = noise_of(measured)
    return {
        "not flat: `advise` is right (95 % interval)": right_words(not_flat),
        "the same without censored workloads": "{} of {}".format(*right_of(held)),
        "flat: `advise` stays": f"{len(advised) - len(moved)} of {len(advised)}",
        "flat, where it moves: largest upper bound of a loss": percent(max(one["high"] for one in moved)),
        "flat, where it moves: loss that its rounds show with a probability of 80 %": detectable_words(moved),
        "pairs of the default that differ by more than two standard errors": f"{beyond} of {len(measured)}",
        "so many would by chance": f"{by_chance:.0f}",
        "censored": f"{sum(row['live']['censored'] is not None for row in rows)} of {len(rows)}",
    }


def right_words(rows: Sequence[Row]) -> str:
    """How often the advice is right, with the interval."""
    from scipy.stats import binomtest

    right, number = right_of(rows)
    low, high = binomtest(right, number).proportion_ci()
    return f"{right} of {number} ({100 * low:.0f} to {percent(high, 0)})"


def detectable_words(differences: Sequence[Mapping[str, float]]) -> str:
    """The range of losses that would have been seen."""
    seen = [one["detectable"] for one in differences]
    return f"{100 * min(seen):.1f} to {percent(max(seen))}"


def right_of(rows: Sequence[Row], name: str = ADVICE) -> tuple[int, int]:
    """On how many workloads a method is right, and of how many."""
    outcomes = [row["methods"][name]["outcome"] for row in rows]
    return outcomes.count("right"), len(outcomes)


def noise_of(rows: Sequence[Row]) -> tuple[int, float]:
    """How many pairs of the default and the default again lie further apart than their errors, and by chance would."""
    from scipy.special import stdtr

    pairs = [row["live"] for row in rows]
    beyond = sum(abs(pair["noise"]) > ERRORS * pair["noise_error"] for pair in pairs)
    rounds = [row["reference"]["difference"]["rounds"] for row in rows]
    return beyond, sum(2.0 * stdtr(one - 1, -ERRORS) for one in rounds)


def workloads_table(rows: Sequence[Row]) -> str:
    """One line for each family that was measured."""
    heads = (
        "family",
        "what is sent",
        "direction",
        "came true",
        "`advise` right",
        "`advise` gains",
        "best of the sweep",
    )
    lines = []
    for family, expected in EXPECTATIONS.items():
        if found := [row for row in rows if row["family"] == family]:
            named = f"`{family}` ({KINDS[SUITE[family].split]})"
            lines.append((named, SUITE[family].description, expected.in_short, *measured_cells(found)))
    return table(heads, lines)


def measured_cells(rows: Sequence[Row]) -> list[str]:
    """What the draws of a family have shown."""
    true = f"{sum(row['came_true'] == 'yes' for row in rows)} of {len(rows)}"
    gains = (mean_gain([row["methods"][ADVICE] for row in rows]), mean_gain([row["reference"] for row in rows]))
    return [true, "{} of {}".format(*right_of(rows)), *(f"x{one:.{1 if one >= TIMES else 2}f}" for one in gains)]


def stays(difference: Mapping[str, float]) -> bool:
    """Whether what was chosen is the default itself, which differs from itself by nothing."""
    return difference["loss"] == difference["low"] == difference["high"] == 0.0


PAGE = "docs/results-suite.md"
PARTS = (
    Part(PAGE, "suite-methods", ("mariadb_suite",), methods_part),
    Part(PAGE, "suite-checks", ("mariadb_suite",), checks_table),
    Part(PAGE, "suite-workloads", ("mariadb_suite",), workloads_part),
)
