"""What a run has won: rows for programs, a table for people."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from rich.table import Table

from poolpilot.env.objective import Objective
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

Row = dict[str, Any]


def outcome_row(when: str, windows: Sequence[Window], objective: Objective) -> Row:
    """Means over some windows, fit for JSON; the tuple is that of the last one."""
    return {
        "when": when,
        "pool_tuple": windows[-1].pool_tuple.as_dict(),
        "goodput_per_s": fmean(objective.goodput_per_s(window) for window in windows),
        "throughput_per_s": fmean(window.throughput_per_s for window in windows),
        "p99_ms": mean_of(window.p99_ms for window in windows),
        "threads": mean_of(window.threads for window in windows),
    }


def outcome_table(
    title: str,
    rows: Iterable[Row],
    goodput: str,
    *,
    in_words: Callable[[PoolTuple], str] = str,
    further: Mapping[str, Callable[[Row], str]] | None = None,
) -> Table:
    """The rows of `outcome_row` as people read them.

    Args:
        title: Shown above.
        rows: The rows.
        goodput: What goodput is called.
        in_words: A tuple as text.
        further: Texts of further columns by their heading.
    """
    more = further or {}
    table = Table("", "configuration", goodput, *more, "p99 ms", "threads", title=title)
    table.caption = "configuration: (pool size, oversubscribe, timer interval ms)"
    for row in rows:
        table.add_row(
            row["when"],
            in_words(PoolTuple.from_dict(row["pool_tuple"])),
            f"{row['goodput_per_s']:.0f}",
            *(text(row) for text in more.values()),
            optional(row["p99_ms"], ".1f"),
            optional(row["threads"], ".0f"),
        )
    return table


def step_as_dict(step: TuningStep) -> Row:
    """A window of a run, fit for JSON."""
    window = step.measured.window
    return {
        "end_s": step.end_s,
        "pool_tuple": step.pool_tuple.as_dict(),
        "goodput_per_s": step.goodput_per_s,
        "p99_ms": window.p99_ms,
        "threads": window.threads,
        "value": step.value,
    }


def optional(value: float | None, form: str) -> str:
    """A number as text; a dash where there is none."""
    return "-" if value is None else format(value, form)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
