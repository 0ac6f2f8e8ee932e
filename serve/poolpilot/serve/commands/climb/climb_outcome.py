"""What a climb has won: a table for people, a dictionary for programs."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from rich.table import Table

from poolpilot.env.climbing.climb import ClimbStep
from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple


def outcome_rows(before: Measured | None, steps: Sequence[ClimbStep], objective: Objective) -> list[dict[str, Any]]:
    """Before and after, as far as they were measured; after is the last fifth of the climb.

    Args:
        before: The window under the first tuple.
        steps: The climb.
        objective: What goodput is.
    """
    rows = [] if before is None else [_before(before, objective)]
    return [*rows, _after(steps[-max(len(steps) // 5, 1) :])] if steps else rows


def outcome_table(rows: list[dict[str, Any]], goodput: str) -> Table:
    """The rows of `outcome_rows` as people read them; `goodput` names what was climbed on."""
    table = Table("", "tuple", goodput, "p99 ms", "threads", title="Climb")
    table.caption = "tuple: (pool size, oversubscribe, timer interval ms)"
    for row in rows:
        table.add_row(
            row["when"],
            str(PoolTuple.from_dict(row["pool_tuple"])),
            f"{row['goodput_per_s']:.0f}",
            optional(row["p99_ms"], ".1f"),
            optional(row["threads"], ".0f"),
        )
    return table


def step_as_dict(step: ClimbStep) -> dict[str, Any]:
    """A window of a climb, fit for JSON."""
    window = step.measured.window
    return {
        "end_s": step.end_s,
        "pool_tuple": step.pool_tuple.as_dict(),
        "goodput_per_s": step.goodput_per_s,
        "p99_ms": window.p99_ms,
        "threads": window.threads,
        "value": step.value,
    }


def decision_as_dict(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of the climber, fit for JSON: complex numbers as (re, im), None for what is not finite."""
    return {name: _plain(value) for name, value in record.items()}


def optional(value: float | None, form: str) -> str:
    """A number as text; a dash where there is none."""
    return "-" if value is None else format(value, form)


def _before(measured: Measured, objective: Objective) -> dict[str, Any]:
    window = measured.window
    return {
        "when": "before",
        "pool_tuple": window.pool_tuple.as_dict(),
        "goodput_per_s": objective.goodput_per_s(window),
        "p99_ms": window.p99_ms,
        "threads": window.threads,
    }


def _after(last: Sequence[ClimbStep]) -> dict[str, Any]:
    windows = [step.measured.window for step in last]
    return {
        "when": "after",
        "pool_tuple": last[-1].pool_tuple.as_dict(),
        "goodput_per_s": fmean(step.goodput_per_s for step in last),
        "p99_ms": _mean([window.p99_ms for window in windows]),
        "threads": _mean([window.threads for window in windows]),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
