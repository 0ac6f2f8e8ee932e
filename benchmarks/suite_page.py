"""Rewrites the measured parts of docs/mariadb-suite.md: the count by method, the workloads one by one, two days.

README.md has one table of all draws; what was measured twice counts as it was read first.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mariadb_suite import KINDS
from pages import read_report, replaced
from poolpilot.env.lab.suite.expectation import Expectation
from poolpilot.env.lab.suite.suite_cells import SUITE
from poolpilot.pipelines.evaluate.suite.suite_report import KINDS as KINDS_OF_RIGHT

REPORT = Path("benchmarks/reports/mariadb_suite.json")
FURTHER = ("second", "second_again", "third", "third_paced")
"""Further draws, by the ends of their reports' names: `mariadb_suite_second.json`."""

DAYS = Path("benchmarks/reports/two_days.json")
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


def main() -> None:
    """Writes all parts."""
    report, days = read_report(REPORT), read_report(DAYS)
    page = replaced(PAGE.read_text(), "suite-methods", methods_table(report["methods"]))
    page = replaced(page, "suite-methods-sealed", methods_table(report["methods_sealed"]))
    page = replaced(page, "suite-cells", cells_table(report["cells"]))
    cells = [*report["cells"]]
    for name in FURTHER:
        if (further := read_report(REPORT.with_stem(f"{REPORT.stem}_{name}"))) is not None:
            place = f"suite-{name.replace('_', '-')}"
            page = replaced(page, f"{place}-methods", methods_table(further["methods"]))
            page = replaced(page, f"{place}-cells", cells_table(further["cells"]))
            read = {row["workload"] for row in cells}
            cells += [row for row in further["cells"] if row["workload"] not in read]
    README.write_text(replaced(README.read_text(), "suite", summary_table(cells)))
    PAGE.write_text(page if days is None else replaced(page, "two-days", on_two_days(days)))


def methods_table(methods: Mapping[str, Mapping[str, Any]]) -> str:
    """How often each method is right, by what was written down."""
    heads = ("method", "to change: right", "to stay: right", "flat: right", "not shown", "wrong")
    last = ("floors broken", "largest loss", "mean gain")
    lines = [f"| {' | '.join((*heads, *last))} |", "|---" * (len(heads) + len(last)) + "|"]
    for name, title in SHOWN.items():
        if (found := methods.get(name)) is not None:
            cells = (
                *(f"{found[f'{kind}_right']} of {found[kind]}" for kind in KINDS_OF_RIGHT),
                *(str(found[key]) for key in ("flat_not_shown", "flat_wrong", "floors_broken")),
                f"{100 * max(found['largest_loss'], 0.0):.0f} %",
                f"x{found['gain']:.2f}",
            )
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def summary_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """What each method comes to on all workloads; one that breaks a floor is taken to have stayed at the default.

    The largest loss is that where what is seen lasts: while a table changes, windows are of whatever part of it.
    """
    heads = ("who decides", "to change: right", "to stay: right", "flat: shown to lose < 5 %")
    last = ("floors broken", "largest loss", "mean gain")
    lines = [f"| {' | '.join((*heads, *last))} |", "|---" * (len(heads) + len(last)) + "|"]
    for name, title in IN_README.items():
        found = [(row["expected"]["verdict"], row["methods"][name]) for row in rows]
        kinds = [[one["outcome"] for kind, one in found if kind in verdicts] for verdicts in KINDS_OF_RIGHT.values()]
        gains = [math.log1p(-one["difference"]["loss"]) for _, one in found if not one["floors_broken"]]
        cells = (
            *(f"{outcomes.count('right')} of {len(outcomes)}" for outcomes in kinds),
            str(len(found) - len(gains)),
            f"{100 * max(one['difference']['loss'] for kind, one in found if kind != 'abstain'):.0f} %",
            f"x{math.exp(sum(gains) / len(found)):.1f}",
        )
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cells_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each workload."""
    shown = {name: title for name, title in SHOWN.items() if all(name in row["methods"] for row in rows)}
    heads = ("workload", "direction", "came true", *shown.values(), "best of the sweep")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        choices = [choice(row["methods"][name]) for name in shown]
        kind = KINDS[SUITE[row["family"]].split]
        cells = [f"`{row['workload']}` ({kind})", Expectation(**row["expected"]).in_words, row["came_true"]]
        lines.append(f"| {' | '.join([*cells, *choices, choice(row['reference'])])} |")
    return "\n".join(lines) + "\n"


def choice(found: Mapping[str, Any]) -> str:
    """What was chosen and what it brings over the default, with its bounds."""
    if found["abstained"]:
        return "no advice"
    difference = found["difference"]
    if difference["loss"] == difference["low"] == difference["high"] == 0.0:
        return "stays"
    broken = ", breaks a floor" if found["floors_broken"] else ""
    core = f"({', '.join(map(str, found['chosen']))})"
    return f"{core} {gain(difference)}{broken}"


def gain(difference: Mapping[str, float]) -> str:
    """A gain with the interval between its two one-sided bounds of 95 %."""
    mean, low, high = (1.0 - difference[name] for name in ("loss", "high", "low"))
    if mean >= TIMES:
        return f"x{mean:.1f} ({low:.1f}..{high:.1f})"
    return f"{100 * (mean - 1):+.0f} % ({100 * (low - 1):+.0f}..{100 * (high - 1):+.0f})"


def on_two_days(report: Mapping[str, Any]) -> str:
    """How many gains agree, and those that do not."""
    lines = [
        f"{report['agree']} of {report['of']} gains agree within two standard errors. Those that do not:\n",
        "| workload | configuration | first day | second day | apart, in errors |",
        "|---|---|---|---|---|",
    ]
    for pair in report["pairs"]:
        if abs(pair["apart"]) > 2.0:
            core = f"({', '.join(map(str, pair['core']))})"
            days = [f"{pair[day]['mean']:+.2f} ± {pair[day]['error']:.2f}" for day in ("first", "second")]
            lines.append(f"| `{pair['workload']}` | {core} | {' | '.join(days)} | {pair['apart']:+.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
