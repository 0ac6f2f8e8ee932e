"""Rewrites the measured tables of docs/tuner.md: days, MariaDB, and unsafe windows, live ones too."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced, table
from tuner_pays_report import MEANS, least_classes
from unsafe_counts import ARMS

DAYS = {
    "tuner-days": Path("benchmarks/reports/tuner_day_undisturbed.json"),
    "whole-days": Path("benchmarks/reports/tuner_day.json"),
}
UNSAFE = Path("benchmarks/reports/unsafe_windows.json")
LIVE = Path("benchmarks/reports/unsafe_live.json")
PAYS = Path("benchmarks/reports/tuner_pays.json")
PAGE = Path("docs/tuner.md")

METHODS = {
    "tuner": "tuner",
    "tuner of throughput": "tuner, `--guard.most-latency-rise 1000`",
    "constant": "best constant of the known curves",
    "cold climb": "cold climb",
    "warm climb": "warm climb",
    "unguarded": "what is predicted, set at once",
}
STARTS = {"both": "both", "default": "the default", "constant": "the best constant"}


def main() -> None:
    """Writes the tables."""
    page = PAGE.read_text()
    for name, path in DAYS.items():
        page = replaced(page, name, days_table(read_report(path)))
    page = replaced(page, "tuner-pays", pays_table(read_report(PAYS)))
    page = replaced(page, "unsafe-windows", unsafe_table(read_report(UNSAFE)["rows"]))
    live = read_report(LIVE)
    PAGE.write_text(replaced(page, "unsafe-live", live_table(live["runs"], live["rows"][0])))


def days_table(report: Mapping[str, Any]) -> str:
    """One line for each method that lived through the days."""
    heads = (
        *("", "requests completed (one standard error)", "worst day", "rate", "regret", "unsafe", "slow"),
        *("changes", "taken back"),
    )
    methods = report["methods"]
    return table(heads, [[title, *day_cells(methods[name])] for name, title in METHODS.items() if name in methods])


def day_cells(row: Mapping[str, float]) -> list[str]:
    """What a method made of its days, beside the untouched default."""
    return [
        f"x{math.exp(row['completed']):.2f} ({percent(row['completed_error'], 0)})",
        f"x{math.exp(row['worst_completed']):.2f}",
        f"x{math.exp(row['log_rate']):.2f}",
        percent(row["regret"], 0),
        percent(row["unsafe"] / row["bins"]),
        percent(row["slow"] / row["bins"]),
        f"{row['changes']:.0f}",
        f"{row['roll_backs']:.0f}",
    ]


def pays_table(report: Mapping[str, Any]) -> str:
    """One line for each workload of the MariaDB suite, and one for their geometric mean with its 95 % interval."""
    heads = (
        "workload",
        "left in force",
        "tries, taken back",
        "over the default",
        "over (16, 3, 10)",
        "meanwhile, over the default",
        "unsafe",
        "least class, of the constant",
    )
    means = [mean_cell(report["summary"][name]) for name in MEANS]
    return table(heads, [*map(pays_cells, report["rows"]), ["geometric mean", "", "", *means, "", ""]])


def pays_cells(row: Mapping[str, Any]) -> list[str]:
    """What the tuner made of one workload."""
    return [
        f"`{row['family']}`",
        str(tuple(row["tuned"])),
        f"{row['tries']}, {row['roll_backs']}" if "tries" in row else "",
        *(f"x{math.exp(gain):.2f} ({percent(error, 0)})" for gain, error in (row[name] for name in MEANS[:2])),
        f"x{math.exp(row['meanwhile_over_default']):.2f}",
        percent(row["unsafe"], 0),
        least_classes(row),
    ]


def mean_cell(found: Mapping[str, Any]) -> str:
    """A geometric mean over workloads, with its interval where there is one."""
    interval = "" if found["interval"] is None else " ({:.2f} to {:.2f})".format(*map(math.exp, found["interval"]))
    return f"x{math.exp(found['mean']):.2f}{interval}"


def unsafe_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each predictor and start."""
    heads = (
        "predictor",
        "from",
        "runs",
        "guarded",
        "followed at once",
        "fewer",
        "95 % bound",
        "most in a row",
        "median gain",
    )
    return table(heads, [unsafe_cells(row) for row in rows])


def unsafe_cells(row: Mapping[str, Any]) -> list[str]:
    """Unsafe windows among those of another configuration than the first, guarded and not."""
    *of_changed, longest = counts(row)
    return [
        row["predictor"],
        STARTS[row["start"]],
        str(row["runs"]),
        *of_changed,
        percent(row["avoided"]),
        percent(row["avoided_low"]),
        longest,
        gains(row),
    ]


def live_table(runs: Sequence[Mapping[str, Any]], whole: Mapping[str, Any]) -> str:
    """One line for each workload of the embedded pool, and one for all."""
    heads = ("family", "processors", "guarded", "followed at once", "most in a row", "gain")
    return table(heads, [*map(live_cells, runs), ["all", "", *counts(whole), f"median {gains(whole)}"]])


def live_cells(run: Mapping[str, Any]) -> list[str]:
    """What came of one workload."""
    flat = {f"{arm}_{name}": value for arm in ARMS for name, value in run[arm].items()}
    return [f"`{run['family']}`", str(run["cpus"]), *counts(flat), gains(flat)]


def counts(row: Mapping[str, Any]) -> list[str]:
    """Unsafe windows among those of another configuration, and the longest row of them, guarded and not."""
    of_changed = [f"{row[f'{arm}_unsafe']:,} of {row[f'{arm}_changed']:,}" for arm in ARMS]
    return [*of_changed, ", ".join(str(row[f"{arm}_in_a_row"]) for arm in ARMS)]


def gains(row: Mapping[str, Any]) -> str:
    """Throughput over that of the untouched server, guarded and not."""
    return ", ".join(f"{100 * row[f'{arm}_gain']:+.0f} %" for arm in ARMS)


if __name__ == "__main__":
    main()
