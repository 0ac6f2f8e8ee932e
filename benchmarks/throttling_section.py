"""The part of docs/results-pool.md about throttling, with its picture: live, and what throttling.py left."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from poolpilot.pipelines.bench.parts.throttling import ALONE, LIMITED

Row = dict[str, Any]
CONTENDERS = (ALONE, LIMITED)
SHOWN = (16, 128, 512, 2048)
"""Connections that the table shows; the picture has all."""
COLOURS = {ALONE: "#c0392b", LIMITED: "#2980b9"}


def by_connections(cells: Sequence[Row]) -> dict[int, dict[str, dict[str, Any]]]:
    """Live cells in the report's form: contenders with `of_peak` among their measures, by number of connections."""
    return {
        int(cell["cell"].rpartition(" at ")[2]): {
            name: {**measures, "of_peak": cell.get("of_peak", {}).get(name)}
            for name, measures in cell["contenders"].items()
        }
        for cell in cells
    }


def mean(measures: Mapping[str, Any], name: str, form: str) -> str:
    """A mean; a dash where there is none."""
    found = measures.get(name)
    return "-" if found is None or math.isnan(found["mean"]) else format(found["mean"], form)


def throttling_section(cells: Sequence[Row]) -> str:
    """Throughput and 99th percentile with the limit and without, live."""
    live = by_connections(cells)
    return "\n".join(
        [
            *convoy_lines(live),
            "",
            "![Throughput and 99th percentile by connections](images/throttling.png)",
            "",
        ]
    )


def convoy_lines(live: Mapping[int, Any]) -> list[str]:
    """The table of the convoy."""
    lines = [
        "| connections | requests/s without a limit | with | p99 ms without | with |",
        "|---" * 5 + "|",
    ]
    for connections in SHOWN:
        rows = [live.get(connections, {}).get(name, {}) for name in CONTENDERS]
        cells = [mean(row, "throughput_per_s", ",.0f") for row in rows]
        cells += [mean(row, "p99_ms", ",.0f") for row in rows]
        lines.append(f"| {connections:,} | " + " | ".join(cells) + " |")
    return lines


def draw_throttling(cells: Sequence[Row], report: Mapping[str, Any], path: Path) -> None:
    """Throughput and 99th percentile of the convoy, live and simulated, and the shape of Wang (book)."""
    figure = Figure(figsize=(10.0, 3.4), layout="constrained")
    live = by_connections(cells)
    simulated = {row["connections"]: row["contenders"] for row in report["convoy"]}
    crowd = {row["connections"]: row["contenders"] for row in report["crowd"]}
    panels = (("throughput_per_s", "requests/s"), ("p99_ms", "p99 ms"), ("throughput_per_s", "requests/s"))
    for column, (measure, label) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), column + 1)
        if column < 2:
            draw_lines(axes, live, measure, "live", "-")
        draw_lines(axes, simulated if column < 2 else crowd, measure, "simulated", "--")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log") if measure == "p99_ms" else axes.set_ylim(bottom=0.0)
        axes.set_ylabel(label)
        axes.set_xlabel("connections")
        axes.set_title("one latch, one processor" if column < 2 else "the shape of Wang (book)", fontsize="medium")
        axes.legend(fontsize="x-small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def draw_lines(axes: Axes, rows: Mapping[int, Any], measure: str, where: str, style: str) -> None:
    """A line for each contender, with intervals."""
    for name in CONTENDERS:
        points = sorted((connections, found[name][measure]) for connections, found in rows.items() if name in found)
        if not points:
            continue
        means = [one["mean"] for _, one in points]
        reach = [0.0 if math.isnan(one["high"]) else one["high"] - one["mean"] for _, one in points]
        numbers = [connections for connections, _ in points]
        axes.errorbar(numbers, means, reach, label=f"{where}, {name}", color=COLOURS[name], linestyle=style, capsize=2)
