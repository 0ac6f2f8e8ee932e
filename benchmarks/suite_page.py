"""Rewrites the measured parts of docs/mariadb-suite.md: the count by method, workload by workload, all draws, two days.

README.md has one table of all draws; what was measured twice counts as it was read first.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mariadb_suite import KINDS
from pages import percent, read_report, replaced, table
from poolpilot.env.lab.suite.expectation import Expectation
from poolpilot.env.lab.suite.suite_cells import SUITE
from poolpilot.pipelines.evaluate.suite.suite_judgement import MARGIN
from poolpilot.pipelines.evaluate.suite.suite_report import KINDS as KINDS_OF_RIGHT
from poolpilot.pipelines.evaluate.suite.suite_run import ADVICE

REPORT = Path("benchmarks/reports/mariadb_suite.json")
DRAWS = ("", "second", "second_again", "third", "third_paced", "second_paced", "first_paced")
"""The draws in the order in which they were read, by the ends of their reports' names: `mariadb_suite_second.json`."""

TEST = "third"
"""The draw that no rule was made by; its reports begin so."""

DAYS = Path("benchmarks/reports/two_days.json")
BESIDE_HOT_ROWS = Path("benchmarks/reports/beside_hot_rows.json")
FEWER_FIRST = Path("benchmarks/reports/fewer_groups_first.json")
PAGE = Path("docs/mariadb-suite.md")
README = Path("README.md")

SHOWN = {
    "advice": "advice",
    "warm_start": "warm start",
    "portfolio_3": "three constants",
    "constant_16_3_10": "(16, 3, 10)",
    "constant_4_3_10": "(4, 3, 10)",
}
"""How the page calls the methods, in the order of its columns."""

IN_README = {
    "advice": "one look (`advise`)",
    "warm_start": "trials, then a climb (`climb --warm`)",
    "portfolio_3": "three constants, tried in turn",
    "constant_16_3_10": "the constant (16, 3, 10)",
    "constant_4_3_10": "the constant (4, 3, 10)",
}

TIMES = 2.0
"""Gains from so many times on are told as such, not in per cent."""

ERRORS = 2.0
"""So many standard errors are within what measuring explains."""

WAITS = ("waits_per_statement", "waits_per_write")
STEPS = ("step", "fewer")
"""Fields of `beside_hot_rows.py`: how often rows are waited for, and what its two steps gain."""

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
    page = PAGE.read_text()
    for draw, report in reports.items():
        place = f"suite-{draw.replace('_', '-')}" if draw else "suite"
        page = replaced(page, f"{place}-methods", methods_table(report["methods"], report["cells"]))
        page = replaced(page, f"{place}-cells", cells_table(report["cells"]))
    sealed = [row for row in reports[DRAWS[0]]["cells"] if row["sealed"]]
    page = replaced(page, "suite-methods-sealed", methods_table(reports[DRAWS[0]]["methods_sealed"], sealed))
    page = replaced(page, "suite-all-draws", all_draws(reports))
    README.write_text(replaced(README.read_text(), "suite", summary_table(read_once(reports))))
    parts = (
        ("two-days", DAYS, on_two_days),
        ("beside-hot-rows", BESIDE_HOT_ROWS, beside_hot_rows),
        ("fewer-first", FEWER_FIRST, fewer_first),
    )
    for name, path, text_of in parts:
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


def methods_table(methods: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]) -> str:
    """How often each method is right, by what was written down, and the workloads whose reference does not hold."""
    heads = ("method", "to change: right", "to stay: right", "flat: right", "not shown", "wrong")
    last = ("floors broken", "> 5 % below the default", "largest loss", "mean gain")
    lines = []
    for name, title in SHOWN.items():
        if (found := methods.get(name)) is not None:
            cells = (
                title,
                *(f"{found[f'{kind}_right']} of {found[kind]}" for kind in KINDS_OF_RIGHT),
                *(str(found[key]) for key in ("flat_not_shown", "flat_wrong", "floors_broken")),
                str(sum(row["methods"][name]["difference"]["loss"] > MARGIN for row in rows)),
                f"{100 * max(found['largest_loss'], 0.0):.0f} %",
                f"x{found['gain']:.2f}",
            )
            lines.append(cells)
    return f"{table((*heads, *last), lines)}\n{censored_words(rows)}\n"


def censored_words(rows: Sequence[Row]) -> str:
    """Of how many workloads the best of the sweep does not hold when measured afresh, and of which."""
    names = [f"`{row['workload']}`" for row in rows if row["live"]["censored"] is not None]
    return f"Censored: {len(names)} of {len(rows)}" + (f" ({', '.join(names)})." if names else ".")


def all_draws(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """One look where something is to be done and where nothing is, and how far the default differs from itself."""
    test = {draw: report for draw, report in reports.items() if draw.startswith(TEST)}
    measured = list(chain.from_iterable(report["cells"] for report in reports.values()))
    lines = (
        f"* *Not flat:* one look is right in {right_words(read_once(reports))} workloads of all draws, in "
        f"{right_words(read_once(test))} of the {TEST} alone; draws of one family resemble each other, so the first of "
        "these intervals is too narrow.",
        flat_words(read_once(reports)),
        noise_words(measured),
    )
    return "\n".join(lines) + "\n"


def right_words(rows: Sequence[Row]) -> str:
    """How often one look is right on what is not flat, with the interval, and where the reference holds."""
    from scipy.stats import binomtest

    not_flat = [row for row in rows if row["expected"]["verdict"] != "flat"]
    held = right_of([row for row in not_flat if row["live"]["censored"] is None])
    right, number = right_of(not_flat)
    low, high = binomtest(right, number).proportion_ci()
    interval = f"{100 * low:.0f} to {percent(high, 0)}"
    return f"{right} of {number} ({interval} at 95 %; {held[0]} of {held[1]} without censored ones)"


def right_of(rows: Sequence[Row]) -> tuple[int, int]:
    """On how many workloads one look is right, and of how many."""
    outcomes = [row["methods"][ADVICE]["outcome"] for row in rows]
    return outcomes.count("right"), len(outcomes)


def flat_words(rows: Sequence[Row]) -> str:
    """On how many flat workloads one look moved, what it may have lost there, and what would have been seen."""
    looks = [row["methods"][ADVICE]["difference"] for row in rows if row["expected"]["verdict"] == "flat"]
    moved = [look for look in looks if not stays(look)]
    seen = [look["detectable"] for look in moved]
    return (
        f"* *Flat:* on {len(looks) - len(moved)} of {len(looks)} workloads one look stayed, where nothing can be lost. "
        f"On {len(moved)} it moved; the largest upper bound of a loss there is "
        f"{percent(max(look['high'] for look in moved))}. Rounds like theirs show a loss of {100 * min(seen):.1f} to "
        f"{percent(max(seen))} with a probability of 80 %; on {sum(one > MARGIN for one in seen)} of them that is more "
        f"than {percent(MARGIN, 0)}."
    )


def noise_words(rows: Sequence[Row]) -> str:
    """How many pairs of the default and the default again lie further apart than their errors, and by chance would."""
    from scipy.special import stdtr

    pairs = [row["live"] for row in rows]
    beyond = sum(abs(pair["noise"]) > ERRORS * pair["noise_error"] for pair in pairs)
    rounds = [row["reference"]["difference"]["rounds"] for row in rows]
    by_chance = sum(2.0 * stdtr(one - 1, -ERRORS) for one in rounds)
    return (
        f"* *The default scored twice:* {beyond} of {len(pairs)} pairs differ by more than two standard errors; by "
        f"chance {by_chance:.0f} would (Student's t, {min(rounds)} to {max(rounds)} rounds)."
    )


def summary_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """What each method comes to on all workloads; one that breaks a floor is taken to have stayed at the default.

    The largest loss is that where what is seen lasts: while a table changes, windows are of whatever part of it.
    """
    heads = ("who decides", "to change: right", "to stay: right", "flat: shown to lose < 5 %")
    last = ("floors broken", "largest loss", "mean gain")
    lines = []
    for name, title in IN_README.items():
        found = [(row["expected"]["verdict"], row["methods"][name]) for row in rows]
        kinds = [[one["outcome"] for kind, one in found if kind in verdicts] for verdicts in KINDS_OF_RIGHT.values()]
        gains = [math.log1p(-one["difference"]["loss"]) for _, one in found if not one["floors_broken"]]
        cells = (
            title,
            *(f"{outcomes.count('right')} of {len(outcomes)}" for outcomes in kinds),
            str(len(found) - len(gains)),
            f"{100 * max(one['difference']['loss'] for kind, one in found if kind != 'abstain'):.0f} %",
            f"x{math.exp(sum(gains) / len(found)):.1f}",
        )
        lines.append(cells)
    return table((*heads, *last), lines)


def cells_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each workload."""
    shown = {name: title for name, title in SHOWN.items() if all(name in row["methods"] for row in rows)}
    heads = ("workload", "direction", "came true", *shown.values(), "best of the sweep")
    lines = []
    for row in rows:
        choices = [choice(row["methods"][name]) for name in shown]
        kind = KINDS[SUITE[row["family"]].split]
        cells = [f"`{row['workload']}` ({kind})", Expectation(**row["expected"]).in_words, row["came_true"]]
        lines.append([*cells, *choices, choice(row["reference"])])
    return table(heads, lines)


def choice(found: Mapping[str, Any]) -> str:
    """What was chosen and what it brings over the default, with its bounds."""
    if found["abstained"]:
        return "no advice"
    difference = found["difference"]
    if stays(difference):
        return "stays"
    broken = ", breaks a floor" if found["floors_broken"] else ""
    core = f"({', '.join(map(str, found['chosen']))})"
    return f"{core} {gain(difference)}{broken}"


def stays(difference: Mapping[str, float]) -> bool:
    """Whether what was chosen is the default itself, which differs from itself by nothing."""
    return difference["loss"] == difference["low"] == difference["high"] == 0.0


def gain(difference: Mapping[str, float]) -> str:
    """A gain with the interval between its two one-sided bounds of 95 %."""
    mean, low, high = (1.0 - difference[name] for name in ("loss", "high", "low"))
    if mean >= TIMES:
        return f"x{mean:.1f} ({low:.1f}..{high:.1f})"
    return f"{100 * (mean - 1):+.0f} % ({100 * (low - 1):+.0f}..{100 * (high - 1):+.0f})"


def on_two_days(report: Mapping[str, Any]) -> str:
    """How many gains agree, and those that do not."""
    lines = []
    for pair in report["pairs"]:
        if abs(pair["apart"]) > 2.0:
            days = [f"{pair[day]['mean']:+.2f} ± {pair[day]['error']:.2f}" for day in ("first", "second")]
            lines.append((f"`{pair['workload']}`", str(tuple(pair["core"])), *days, f"{pair['apart']:+.1f}"))
    told = f"{report['agree']} of {report['of']} gains agree within two standard errors. Those that do not:\n\n"
    return told + table(("workload", "configuration", "first day", "second day", "apart, in errors"), lines)


def beside_hot_rows(report: Mapping[str, Any]) -> str:
    """One line for each workload: what a look shows and advises, and what the two steps gain."""
    heads = (
        "beside transactions on hot rows",
        "waits for rows a statement",
        "one that writes",
        "connections that wait",
        "rules advise",
        "first step",
        "fewer groups",
    )
    lines = []
    for row in report["rows"]:
        waits = ["-" if row[name] is None else f"{row[name]:.3f}" for name in WAITS]
        advised = "stays" if row["advised"] is None else str(tuple(row["advised"]))
        gains = [gain_with_error(row[name], row[f"{name}_error"]) for name in STEPS]
        lines.append((f"`{row['workload']}`", *waits, percent(row["waiting_share"], 0), advised, *gains))
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
    return f"{percent(math.expm1(gain), 0)} (error {percent(error, 0)})"


if __name__ == "__main__":
    main()
