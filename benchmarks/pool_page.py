"""Writes tables and a picture of docs/results-pool.md from what `poolpilot bench pool` and `soak.py` left.

How to run: `make bench-pool`, or `python benchmarks/pool_page.py [--report benchmarks/reports/pool.json]
[--soak benchmarks/reports/soak.json] [--page docs/results-pool.md] [--picture docs/images/handlers.png]` after it.
Results to expect: the parts of the page between their markers are written anew; a part that was not measured stays as
it is. Simulated figures come from benchmarks/throttling.py and benchmarks/disciplines.py.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from disciplines_section import disciplines_section
from faults_section import faults_section
from pages import read_report, replaced
from poolpilot.pipelines.bench.parts.handlers import HANDLERS
from poolpilot.pipelines.bench.serving.works import WORKS
from throttling_section import draw_throttling, throttling_section

Row = dict[str, Any]
COLOURS = {"per_connection": "#2c3e50", "pool": "#2980b9", "hybrid": "#c0392b"}
SHOWN = (16, 16_384)
"""Connections that the table shows; the picture has all."""
SERVERS_AT = 256
"""Connections at which servers are compared by a request for nothing."""


def value(row: Row, name: str, measure: str, form: str = ",.0f", scale: float = 1.0) -> str:
    """A mean; a dash where there is none."""
    found = row["contenders"].get(name, {}).get(measure, {}).get("mean")
    return "-" if found is None or math.isnan(found) else format(found * scale, form)


def ratio(row: Row, name: str) -> str:
    """A ratio with its interval; a dash where there is none."""
    found = row["ratios"].get(name)
    return "-" if found is None else f"{found['mean']:.2f} ({found['low']:.2f} .. {found['high']:.2f})"


def place(row: Row) -> tuple[str, int]:
    """Work and connections of a cell."""
    work, _, connections = row["cell"].rpartition(" at ")
    return work, int(connections)


def handlers_section(rows: Sequence[Row]) -> str:
    """Throughput of each handler, and hybrid beside the better of the other two."""
    lines = [
        "| request | connections | per_connection, requests/s | pool | hybrid | hybrid over the better (95 %) |",
        "|---" * 6 + "|",
    ]
    for row in rows:
        work, connections = place(row)
        if connections in SHOWN:
            cells = [*(value(row, one, "throughput_per_s") for one in HANDLERS), ratio(row, "hybrid")]
            lines.append(f"| {work} | {connections:,} | " + " | ".join(cells) + " |")
    lines += [
        "",
        kept_of_peak(rows),
        *refusals(rows),
        "",
        "![Throughput and 99th percentile by handler](images/handlers.png)",
    ]
    return "\n".join(lines) + "\n"


def kept_of_peak(rows: Sequence[Row]) -> str:
    """What hybrid keeps of its own peak at the highest number of connections, by work."""
    told = []
    for work in WORKS:
        found = [row for row in rows if place(row)[0] == work and "hybrid" in row["contenders"]]
        if found:
            rates = [row["contenders"]["hybrid"]["throughput_per_s"]["mean"] for row in found]
            told.append(f"{work} {rates[-1] / max(rates):.0%} at {place(found[-1])[1]:,}")
    return f"Of its own peak `hybrid` keeps: {', '.join(told)}."


def refusals(rows: Sequence[Row]) -> list[str]:
    """Who could not be measured, and why."""
    return [f"\nNot measured: {name}, {row['cell']}: {why}" for row in rows for name, why in row["refused"].items()]


def null_section(rows: Sequence[Row]) -> str:
    """What a request for nothing costs each server."""
    lines = [
        "| server | requests a CPU second | over the echo loop (95 %) | system calls a request |",
        "|---" * 4 + "|",
    ]
    shown = [row for row in rows if int(row["cell"].split()[0]) == SERVERS_AT]
    for row in shown:
        for name in row["contenders"]:
            cells = [
                value(row, name, "requests_per_cpu_s"),
                ratio(row, name),
                value(row, name, "system_calls_a_request", ".2f"),
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, *refusals(shown)]) + "\n"


def draw(rows: Sequence[Row], path: Path) -> None:
    """Throughput and 99th percentile over the connections, by work."""
    figure = Figure(figsize=(10.0, 5.4), layout="constrained")
    for column, work in enumerate(WORKS):
        for line, measure in enumerate(("throughput_per_s", "p99_ms")):
            axes = figure.add_subplot(2, len(WORKS), 1 + column + line * len(WORKS))
            for handler in HANDLERS:
                points = [
                    (place(row)[1], row["contenders"][handler][measure])
                    for row in rows
                    if place(row)[0] == work and handler in row["contenders"]
                ]
                means = [one["mean"] for _, one in points]
                reach = [0.0 if math.isnan(one["high"]) else one["high"] - one["mean"] for _, one in points]
                axes.errorbar([x for x, _ in points], means, reach, label=handler, color=COLOURS[handler], capsize=2)
            axes.set_xscale("log", base=2)
            axes.set_ylim(bottom=0.0) if measure == "throughput_per_s" else axes.set_yscale("log")
            axes.set_title(work if line == 0 else "", fontsize="medium")
            axes.set_ylabel(("requests/s" if line == 0 else "p99 ms") if column == 0 else "")
            axes.set_xlabel("connections" if line else "")
    axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


SECTIONS: dict[str, Callable[[Sequence[Row]], str]] = {
    "handlers": handlers_section,
    "null": null_section,
}


def with_simulated(page: str, cells: Sequence[Row], reports: Path, pictures: Path) -> str:
    """The page with the parts that stand beside simulated ones."""
    throttled, shared = ([row for row in cells if row["part"] == part] for part in ("throttling", "shares"))
    simulated = read_report(reports / "throttling.json")
    draw_throttling(throttled, simulated, pictures / "throttling.png")
    page = replaced(page, "throttling", throttling_section(throttled))
    disciplines = read_report(reports / "disciplines.json")
    return replaced(page, "disciplines", disciplines_section(shared, disciplines))


def main() -> None:
    """Writes every part that was measured anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, default=Path("benchmarks/reports/pool.json"))
    parser.add_argument("--soak", type=Path, default=Path("benchmarks/reports/soak.json"))
    parser.add_argument("--page", type=Path, default=Path("docs/results-pool.md"))
    parser.add_argument("--picture", type=Path, default=Path("docs/images/handlers.png"))
    arguments = parser.parse_args()
    pool = read_report(arguments.report)
    cells = pool["cells"] if pool else []
    page = arguments.page.read_text()
    for part, section in SECTIONS.items():
        rows = [row for row in cells if row["part"] == part]
        if rows:
            page = replaced(page, part, section(rows))
        if rows and part == "handlers":
            draw(rows, arguments.picture)
    soak = read_report(arguments.soak)
    if soak:
        page = replaced(page, "faults", faults_section(soak["builds"]))
    arguments.page.write_text(with_simulated(page, cells, arguments.report.parent, arguments.picture.parent))


if __name__ == "__main__":
    main()
