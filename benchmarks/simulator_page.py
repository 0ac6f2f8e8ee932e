"""Writes the tables of docs/results-simulator.md, and one of docs/simulator.md, from what the commands there leave.

How to run: `python benchmarks/simulator_page.py [--reports benchmarks/reports] [--docs docs]` after the commands that
the page names, with `--json benchmarks/reports/NAME.json`. Results to expect: the parts of the pages
between their markers are written anew; a part without a file stays as it is.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import read_report, replaced, table

Interval = Mapping[str, float]
SIZES = ("8", "72", "144", "180", "512")
"""Pool sizes of the curves that the table shows."""

POLICIES = ("c-mu", "MaxWeight", "processor sharing", "MaxWeight, searched")
PUBLISHED = "PPO WC"


def between(value: Interval, form: str = ",.1f") -> str:
    """A mean with its interval; what does not vary stands alone."""
    mean, low, high = (format(value[name], form) for name in ("mean", "low", "high"))
    return mean if low == high else f"{mean} ({low} .. {high})"


AS_SHIPPED = {"as shipped": "judged_before", "rebuilt from one window": "rebuilt"}
"""What a user simulates with, in the words of the page."""

LEVEL = {
    "goodput off, median": "error_median",
    "goodput off, 90th percentile": "error_p90",
    "pairs of configurations in the right order": "pairs_alike",
}
CHOICE = {"lost by its choice, median": "regret_median", "lost by its choice, 90th percentile": "regret_p90"}


def calibration_section(report: Mapping[str, Any]) -> str:
    """How well the calibrated simulator does on live workloads that it was not fitted to."""
    return calibration_table(report, {"fitted": "judged", **AS_SHIPPED}, LEVEL | CHOICE)


def level_section(report: Mapping[str, Any]) -> str:
    """The same as far as a user needs it before the first simulation."""
    return calibration_table(report, AS_SHIPPED, LEVEL)


def calibration_table(report: Mapping[str, Any], columns: Mapping[str, str], measures: Mapping[str, str]) -> str:
    """A line for each measure."""
    rows = [[words, *(f"{report[one][key]:.1%}" for one in columns.values())] for words, key in measures.items()]
    return table(["", *columns], rows)


def theory_section(rows: Sequence[Mapping[str, Any]]) -> str:
    """The simulator's stations against queueing theory."""

    def error(row: Mapping[str, Any]) -> str:
        mean, half = 100 * row["error"], 100 * row["half_interval"]
        return f"{mean:+.2f} % ({mean - half:+.2f} .. {mean + half:+.2f})"

    return table(["model", "error (95 %)"], ([row["model"], error(row)] for row in rows))


def speed_section(result: Mapping[str, Any]) -> str:
    """The simulator's rates on one core."""
    rows = [
        ("M/M/4, events a second", "events_per_s_core", "simpy_events_per_s", "events_over_simpy_least"),
        ("pool, requests a second", "pool_requests_per_s_core", "simpy_pool_requests_per_s",
         "pool_requests_over_simpy_least"),
        ("environment, steps a second", "env_steps_per_s", None, None),
    ]  # fmt: skip
    shown = ([words, *("" if key is None else f"{result[key]:,.0f}" for key in keys)] for words, *keys in rows)
    return table(["one core", "here", "SimPy", "ratio, least of the repeats"], shown)


def mm1_section(report: Mapping[str, Any]) -> str:
    """Customers of an M/M/1 queue a second, ours and Cimba's."""
    rows = [
        [
            f"Cimba's {name} build",
            f"{one['ours_per_s']:,.0f}",
            f"{one['cimba_per_s']:,.0f}",
            f"{one['ratio']:.2f} ({one['low']:.2f} .. {one['high']:.2f})",
        ]
        for name, one in report["builds"].items()
    ]
    return table(["M/M/1, customers a second", "ours", "Cimba", "ratio (95 %)"], rows)


def shapes_section(result: Mapping[str, Any]) -> str:
    """Curves over the pool size."""
    rows = [
        [name, *(f"{points[size]:,.0f}" for size in SIZES), str(result["best_size"][name])]
        for name, points in result["curves"].items()
    ]
    return table(["requests a second by pool size", *SIZES, "best size"], rows)


def rw_section(result: Mapping[str, Any]) -> str:
    """The gains on 72 processors beside those of Trub (adaptive pool)."""
    rows = [
        [
            str(row["connections"]),
            f"{row['source']:+.0%}",
            f"{row['simulated']:+.1%}",
            "fitted" if row["fitted"] else "predicted",
        ]
        for row in result["rows"]
    ]
    return table(["connections", "Trub reports", "simulated", ""], rows)


def seed_section(report: Mapping[str, Any]) -> str:
    """The latches and the knee of Wang (book) beside ours."""
    rows = [
        [f"{one['latch']} latch, {one['threads']} threads: passes a second", f"{one['source']:,}", between(one["ours"])]
        for one in report["latches"]
    ]
    rows += [
        [f"{cores} processors: knee", "near 60 %", between(one["knee"], ".0%")]
        for cores, one in report["response"].items()
    ]
    return table(["", "Wang (book)", f"ours ({report['seeds']} seeds, 95 %)"], rows)


def networks_section(report: Sequence[Mapping[str, Any]]) -> str:
    """Holding costs on QGym's networks: our policies, and the best that is published."""
    rows = [
        [policy, *(f"{one['ours'][policy]['mean']:.1f} ± {one['ours'][policy]['half_interval']:.1f}" for one in report)]
        for policy in POLICIES
    ]
    costs = ((one["published"][PUBLISHED]["cost"], one["published"][PUBLISHED]["plus_minus"]) for one in report)
    rows.append([f"{PUBLISHED}, published", *(f"{cost:.1f} ± {error:.1f}" for cost, error in costs)])
    return table(["holding cost", *(one["network"] for one in report)], rows)


SECTIONS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "calibration": ("twin_free", calibration_section),
    "theory": ("theory", theory_section),
    "shapes": ("shapes", shapes_section),
    "simulated_rw": ("rw", rw_section),
    "queueing_seed": ("queueing_seed", seed_section),
    "networks": ("networks", networks_section),
    "speed": ("speed", speed_section),
    "mm1": ("mm1", mm1_section),
}
"""Parts of the page of results by name: the report that each is made of, and how."""

USED = {"calibration-level": ("twin_free", level_section)}
"""The same of the page that says how the simulator is used."""

PAGES: dict[str, Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "results-simulator.md": SECTIONS,
    "simulator.md": USED,
}


def main() -> None:
    """Writes every part whose file there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    arguments = parser.parse_args()
    for page, sections in PAGES.items():
        text = (arguments.docs / page).read_text()
        for name, (file, section) in sections.items():
            report = read_report(arguments.reports / f"{file}.json")
            if report is not None:
                text = replaced(text, name, section(report))
        (arguments.docs / page).write_text(text)


if __name__ == "__main__":
    main()
