"""Rewrites the measured parts of docs/results-suite.md: methods, workloads, what measuring is worth, fights over rows.

What was measured twice counts as it was read first.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mariadb_suite import KINDS
from pages import percent, read_report, replaced, table
from poolpilot.lab.suite.expectations import EXPECTATIONS
from poolpilot.lab.suite.suite_cells import DRAWS as NUMBER_OF_DRAWS
from poolpilot.lab.suite.suite_cells import SUITE
from poolpilot.pipelines.evaluate.suite.suite_judgement import MARGIN
from poolpilot.pipelines.evaluate.suite.suite_report import KINDS as KINDS_OF_RIGHT
from poolpilot.pipelines.evaluate.suite.suite_run import ADVICE

REPORT = Path("benchmarks/reports/mariadb_suite.json")
DRAWS = ("", "second", "second_again", "third", "third_paced", "second_paced", "first_paced")
"""The draws in the order in which they were read, by the ends of their reports' names: `mariadb_suite_second.json`."""

TEST = "third"
"""The draw that no rule was made by; its reports begin so."""

BESIDE_HOT_ROWS = Path("benchmarks/reports/beside_hot_rows.json")
FEWER_FIRST = Path("benchmarks/reports/fewer_groups_first.json")
PAGE = Path("docs/results-suite.md")

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

STEPS = ("step", "fewer")
"""Fields of `beside_hot_rows.py`: what its two steps gain."""

ENDS_ON = {
    "fewer_first": "fewer groups first (`climb --warm`)",
    "by_curves": "by known curves alone",
    "constants": "three constants in turn",
}
"""The methods of `fewer_groups_first.py`."""

Row = Mapping[str, Any]
"""One workload with what every method chose."""


def main() -> None:
    """Writes all parts."""
    reports = {draw: found for draw in DRAWS if (found := read_report(report_of(draw))) is not None}
    rows = read_once(reports)
    page = replaced(PAGE.read_text(), "suite-methods", methods_table(rows))
    page = replaced(page, "suite-checks", checks_table(reports))
    page = replaced(page, "suite-workloads", workloads_table(rows))
    for name, path, text_of in (
        ("beside-hot-rows", BESIDE_HOT_ROWS, beside_hot_rows),
        ("fewer-first", FEWER_FIRST, fewer_first),
    ):
        if (report := read_report(path)) is not None:
            page = replaced(page, name, text_of(report))
    PAGE.write_text(page)


def report_of(draw: str) -> Path:
    """Where what was measured of a draw is kept."""
    return REPORT.with_stem(f"{REPORT.stem}_{draw}") if draw else REPORT


def read_once(reports: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The workloads of all draws, each as it was read first."""
    rows: dict[str, Row] = {}
    for report in reports.values():
        rows = {row["workload"]: row for row in report["cells"]} | rows
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


def checks_table(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """How sure the advice is, and the measurement: a line for each question, over all draws and the last one."""
    test = {draw: report for draw, report in reports.items() if draw.startswith(TEST)}
    columns = [checks(each) for each in (reports, test)]
    rows = [(question, *(column[question] for column in columns)) for question in columns[0]]
    return table(("question", "all draws", f"{TEST} draw"), rows)


def checks(reports: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
    """The answers of some draws."""
    rows = read_once(reports)
    measured = list(chain.from_iterable(report["cells"] for report in reports.values()))
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


def beside_hot_rows(report: Mapping[str, Any]) -> str:
    """One line for each workload: what a window shows, what is advised, and what the two steps gain."""
    heads = ("beside transactions on hot rows", "waits for rows a write", "rules advise", "first step", "fewer groups")
    lines = []
    for row in report["rows"]:
        waits = "-" if row["waits_per_write"] is None else f"{row['waits_per_write']:.3f}"
        advised = "stays" if row["advised"] is None else str(tuple(row["advised"]))
        gains = [gain_with_error(row[name], row[f"{name}_error"]) for name in STEPS]
        lines.append((f"`{row['workload']}`", waits, advised, *gains))
    return table(heads, lines)


def fewer_first(report: Mapping[str, Any]) -> str:
    """One line for each workload: what each method ends on, and its gain over the default."""
    heads = ("transactions that fight over rows", *ENDS_ON.values())
    lines = []
    for row in report["rows"]:
        ended = [row["methods"][name] for name in ENDS_ON]
        cells = [f"{tuple(one['core'])} {gain_with_error(one['gain'], one['error'])}" for one in ended]
        lines.append((f"`{row['workload']}`", *cells))
    means = [[row["methods"][name]["gain"] for row in report["rows"]] for name in ENDS_ON]
    lines.append(("all, mean", *(f"x{math.exp(sum(gains) / len(gains)):.2f}" for gains in means)))
    return table(heads, lines)


def gain_with_error(gain: float, error: float) -> str:
    """A gain in ln J as a percentage, with its standard error."""
    return f"{100 * math.expm1(gain):+.0f} ± {percent(error, 0)}"


if __name__ == "__main__":
    main()
