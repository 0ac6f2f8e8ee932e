"""The pool's variables of a server: values, ranges, and which need a restart."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.mariadb.server.mariadb_server import MariadbServer

UNBOUNDED = 2**32 - 1
"""A greatest value from which on there is none to speak of."""


def variables_table(where: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """The variables as people read them."""
    title = f"Thread pool of {where}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, collapse_padding=True)
    for heading in ("variable", "value", "range"):
        table.add_column(heading, no_wrap=True)
    table.add_column("set")
    table.add_column("from")
    for row in rows:
        table.add_row(row["name"], row["value"], _range(row["low"], row["high"]), row["set"], in_words(row["origin"]))
    return table


def in_words(origin: str) -> str:
    """Where a value came from, in lower case: "compile time", "command line", "config", "sql" or "auto"."""
    return origin.lower().replace("-", " ")


def _range(low: int | None, high: int | None) -> str:
    """A range as text; a high end that only the size of an integer sets is none."""
    if low is None or high is None:
        return ""
    return f"from {low}" if high >= UNBOUNDED else f"{low}..{high}"


def variable_rows(server: MariadbServer) -> list[dict[str, Any]]:
    """The variables fit for JSON; the ranges of the knobs are those that the running server takes."""
    knobs = {f"thread_pool_{name}": knob for name, knob in server.knobs.knobs.items()}
    ranges = {
        "thread_pool_size": knobs["thread_pool_pool_size"],
        "thread_pool_oversubscribe": knobs["thread_pool_oversubscribe"],
        "thread_pool_stall_limit": knobs["thread_pool_timer_interval_ms"],
        "thread_pool_idle_timeout": knobs["thread_pool_idle_timeout_s"],
    }
    rows: list[dict[str, Any]] = []
    for name, one in sorted(server.variables.items()):
        knob = ranges.get(name)
        how = "restart only" if one.restart_only else "per session" if one.per_session else "live"
        rows.append(
            {
                "name": name,
                "value": one.value,
                "low": one.low if knob is None else int(knob.low),
                "high": one.high if knob is None else int(knob.high),
                "set": how,
                "knob": knob is not None,
                "origin": one.origin,
            }
        )
    return rows
