"""`poolpilot bench pool`: the live pool's handlers, floor, peers, classes, limit, shares and priorities, measured."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table

from poolpilot.pipelines.bench.parts.classes import POOL, UNASKED, known_cells, share_cells
from poolpilot.pipelines.bench.parts.handlers import HANDLERS, handler_cells, reconnect_cells
from poolpilot.pipelines.bench.parts.nulls import ECHO, null_cells
from poolpilot.pipelines.bench.parts.overload import REFERENCE, overload_cells
from poolpilot.pipelines.bench.parts.priorities import ORIGINAL, priority_cells
from poolpilot.pipelines.bench.parts.throttling import ALONE, of_peak, throttling_cells
from poolpilot.pipelines.bench.serving.bench_settings import Part, PoolBenchSettings
from poolpilot.pipelines.bench.serving.interval import Interval
from poolpilot.pipelines.bench.serving.rounds import AnyCell, Results, processors_awake, rounds
from poolpilot.pipelines.kept_runs import digest_of

CELLS: Mapping[Part, Callable[[PoolBenchSettings], Iterator[AnyCell]]] = {
    "handlers": handler_cells,
    "reconnect": reconnect_cells,
    "null": null_cells,
    "known": known_cells,
    "throttling": throttling_cells,
    "shares": share_cells,
    "priorities": priority_cells,
    "overload": overload_cells,
}
REFERENCES: Mapping[str, str] = {
    "null": ECHO,
    "known": UNASKED,
    "throttling": ALONE,
    "shares": POOL,
    "priorities": ORIGINAL,
    "overload": REFERENCE,
}
"""Whom the others of a cell are compared with; handlers have the better of the other two."""

COMPARED: Mapping[str, str] = {
    "handlers": "throughput_per_s",
    "reconnect": "throughput_per_s",
    "null": "requests_per_cpu_s",
    "known": "requests_per_cpu_s",
    "throttling": "throughput_per_s",
    "shares": "throughput_per_s",
    "priorities": "throughput_per_s",
    "overload": "high_goodput_per_s",
}

WHICH_TRIALS = ("parts", "repeats", "keep_awake", "runs")
"""Settings that say which trials there are, or what becomes of them."""

CLASS_THROUGHPUT = "_throughput_per_s"
"""End of the names of what classes got."""


@dataclass(frozen=True)
class PoolBench:
    """What was measured and how it compares.

    Attributes:
        cells: What was compared.
        results: What was measured.
        awake: Whether the processors were kept awake.
    """

    cells: tuple[AnyCell, ...]
    results: Results
    awake: bool

    def as_dict(self) -> dict[str, Any]:
        """Every cell with its contenders: means with intervals, ratios to whom they are compared with, refusals."""
        peaks = self._of_peak()
        return {"awake": self.awake, "cells": [{**self._row(cell), **peaks.get(cell.name, {})} for cell in self.cells]}

    def _of_peak(self) -> dict[str, dict[str, Any]]:
        """What each contender of the part of throttling keeps of the best of all, by cell."""
        throughputs = {
            cell.name: {
                name: measures["throughput_per_s"]
                for name, measures in self.results.repeats(cell.part, cell.name).items()
            }
            for cell in self.cells
            if cell.part == "throttling"
        }
        return {
            cell: {"of_peak": {name: ratio.as_dict() for name, ratio in ratios.items()}}
            for cell, ratios in of_peak(throughputs).items()
        }

    def _row(self, cell: AnyCell) -> dict[str, Any]:
        columns = self.results.repeats(cell.part, cell.name)
        refused = {
            name: reason
            for (part, where, name), reason in self.results.refused.items()
            if (part, where) == (cell.part, cell.name)
        }
        return {**row_of(cell.part, cell.name, columns), "refused": refused}

    def tables(self) -> Group:
        """The same for people, a table for each part."""
        rows = [self._row(cell) for cell in self.cells]
        parts = dict.fromkeys(row["part"] for row in rows)
        return Group(*(table_of(part, [row for row in rows if row["part"] == part]) for part in parts))


def row_of(part: str, cell: str, columns: Mapping[str, Mapping[str, list[float]]]) -> dict[str, Any]:
    """A cell of the report: means with intervals, and ratios to whom the contenders are compared with.

    Args:
        part: The part of the benchmark.
        cell: Name of the cell.
        columns: Values in the order of the repeats, by contender and measure.
    """
    return {
        "part": part,
        "cell": cell,
        "contenders": {
            name: {measure: Interval.of(values).as_dict() for measure, values in measures.items()}
            for name, measures in columns.items()
        },
        "ratios": as_dicts(ratios(part, columns, COMPARED[part])),
        "class_ratios": {
            measure.removesuffix(CLASS_THROUGHPUT): as_dicts(ratios(part, columns, measure))
            for measure in class_throughputs(columns)
        },
    }


def ratios(part: str, columns: Mapping[str, Mapping[str, list[float]]], measure: str) -> dict[str, Interval]:
    """Each contender over the one it is compared with, repeat by repeat, where neither has a repeat without any."""
    compared = {name: measures[measure] for name, measures in columns.items()}
    found = {}
    for name, values in compared.items():
        reference = reference_of(part, name, compared)
        if reference is None or name == reference or len(compared[reference]) != len(values):
            continue
        if min(*values, *compared[reference]) > 0.0:
            found[name] = Interval.of_ratio(values, compared[reference])
    return found


def class_throughputs(columns: Mapping[str, Mapping[str, list[float]]]) -> list[str]:
    """What tells of one class, and every contender of a cell has."""
    found = [set(measures) for measures in columns.values()]
    return sorted(name for name in set.intersection(*found) if name.endswith(CLASS_THROUGHPUT)) if found else []


def as_dicts(intervals: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    """The intervals, fit for JSON."""
    return {name: interval.as_dict() for name, interval in intervals.items()}


def reference_of(part: str, name: str, compared: Mapping[str, list[float]]) -> str | None:
    """Whom a contender is compared with; None where that one could not be measured."""
    if part in REFERENCES:
        reference = REFERENCES[part]
        return reference if reference in compared else None
    if part == "reconnect":
        handler, _, how = name.partition(", ")
        slow = f"{handler}, by a read"
        return slow if how == "at once" and slow in compared else None
    others = [other for other in HANDLERS if other != name and other in compared]
    return max(others, key=lambda other: Interval.of(compared[other]).mean, default=None)


def table_of(part: str, rows: list[dict[str, Any]]) -> Table:
    """One part: a line for each cell, and under it one for each contender."""
    table = Table(title=part, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for header in ("", "requests/s", "p99 ms", "per CPU s", "KiB each", "points off", "ratio (95 %)"):
        table.add_column(header, justify="right" if header else "left", no_wrap=True)
    for row in rows:
        table.add_row(row["cell"], style="bold")
        for name, measures in row["contenders"].items():
            ratio = row["ratios"].get(name)
            table.add_row(
                f"  {name}",
                shown(measures, "throughput_per_s", ",.0f"),
                shown(measures, "p99_ms", ".2f"),
                shown(measures, "requests_per_cpu_s", ",.0f"),
                shown(measures, "bytes_a_connection", ",.1f", 1 / 1024),
                shown(measures, "points_off", ".2f"),
                "" if ratio is None else f"{ratio['mean']:.2f} ({ratio['low']:.2f}..{ratio['high']:.2f})",
            )
        for name in row["refused"]:
            table.add_row(f"  {name}", "-")
    table.caption = "\n".join(f"{name}: {why}" for row in rows for name, why in row["refused"].items()) or None
    return table


def shown(measures: Mapping[str, Mapping[str, float]], name: str, form: str, scale: float = 1.0) -> str:
    """A mean; empty where it was not measured."""
    return format(measures[name]["mean"] * scale, form) if name in measures else ""


def bench_pool(settings: PoolBenchSettings) -> PoolBench:
    """Runs the parts that are asked for.

    Raises:
        KeyboardInterrupt: The user ended it; `settings.runs` holds what is done.
    """
    cells = tuple(cell for part in settings.parts for cell in CELLS[part](settings))
    with processors_awake() if settings.keep_awake else nullcontext(False) as awake:
        found = rounds(cells, settings.repeats, settings.runs, digest_of(settings, WHICH_TRIALS))
        return PoolBench(cells, found, awake)
