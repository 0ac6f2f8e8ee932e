"""What a climb looks like: the live screen while it runs and the table at its end."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from poolpilot.env.climb import ClimbStep, ClimbTrace
from poolpilot.env.measurement import Measured
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple

SHOWN_STEPS = 12


class ClimbScreen:
    """The last windows of a climb, redrawn after each.

    Args:
        title: Shown above.
        console: Where to draw.
    """

    def __init__(self, title: str, console: Console) -> None:
        self._title = title
        self._steps: deque[ClimbStep] = deque(maxlen=SHOWN_STEPS)
        self._live = Live(self._table(), console=console, auto_refresh=False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draws for the duration of the block."""
        with self._live:
            yield

    def add(self, step: ClimbStep) -> None:
        """Takes one more window."""
        self._steps.append(step)
        self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        table = Table("time s", "pool size", "goodput 1/s", "p99 ms", "threads", title=self._title)
        for step in self._steps:
            window = step.measured.window
            table.add_row(
                f"{step.end_s:.1f}",
                str(step.pool_tuple.pool_size),
                f"{step.goodput_per_s:.0f}",
                _optional(window.p99_ms, ".1f"),
                _optional(window.threads, ".0f"),
            )
        return table


def outcome_rows(before: Measured, trace: ClimbTrace, objective: Objective) -> list[dict[str, Any]]:
    """Before and after, fit for the table and for JSON; after is the last fifth of the climb.

    Args:
        before: The window under the first tuple.
        trace: The climb.
        objective: What goodput is.
    """
    last = trace.steps[-max(len(trace.steps) // 5, 1) :]
    windows = [step.measured.window for step in last]
    return [
        {
            "when": "before",
            "pool_tuple": before.window.pool_tuple.as_dict(),
            "goodput_per_s": objective.goodput_per_s(before.window),
            "p99_ms": before.window.p99_ms,
            "threads": before.window.threads,
        },
        {
            "when": "after",
            "pool_tuple": trace.final_tuple.as_dict(),
            "goodput_per_s": fmean(step.goodput_per_s for step in last),
            "p99_ms": _mean([window.p99_ms for window in windows]),
            "threads": _mean([window.threads for window in windows]),
        },
    ]


def outcome_table(rows: list[dict[str, Any]], goodput: str = "goodput 1/s") -> Table:
    """The rows of `outcome_rows` as people read them; `goodput` names what was climbed on."""
    table = Table("", "tuple", goodput, "p99 ms", "threads", title="Climb")
    table.caption = "tuple: (pool size, oversubscribe, timer interval ms)"
    for row in rows:
        table.add_row(
            row["when"],
            str(PoolTuple.from_dict(row["pool_tuple"])),
            f"{row['goodput_per_s']:.0f}",
            _optional(row["p99_ms"], ".1f"),
            _optional(row["threads"], ".0f"),
        )
    return table


def _optional(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
