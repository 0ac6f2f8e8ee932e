"""The tables of a live evaluation, each at most 80 columns wide where no method has a name of more than 18 letters."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

Statistics = Mapping[str, Any]

SHORTEST = 5
"""Least width of a column, so that figures stand whole; heads wrap."""


def value_table(statistics: Mapping[str, Statistics], kept: int, censored: int) -> Group:
    """Equal seconds: what each method's choice is worth, the best first."""
    title = f"Equal seconds: {kept} workloads, live; {censored} censored, whose reference did not repeat"
    table = _table(("method", "goodput", "p10", "regret", "95 %", "p90", "trials", "way", "unsafe"))
    for method, row in statistics.items():
        interval = (
            "" if _missing(row, "regret_mean_low") else _interval(row["regret_mean_low"], row["regret_mean_high"])
        )
        table.add_row(
            method,
            _shown(row, "goodput_share_mean", "{:.3f}"),
            _shown(row, "goodput_share_p10", "{:.3f}"),
            _shown(row, "regret_mean", "{:.1%}"),
            interval,
            _shown(row, "regret_p90", "{:.1%}"),
            _shown(row, "tries", "{:.1f}"),
            _shown(row, "on_the_way", "{:.2f}"),
            _shown(row, "unsafe", "{:.1%}"),
        )
    note = (
        "goodput and regret against the best of the workload's own sweep, all measured afresh; 95 %: interval of the "
        "mean regret over families; way: goodput of the method's own seconds; unsafe: share of these under 80 % of "
        "the first one's goodput"
    )
    return Group(Text(title), table, Text(note))


def cost_table(statistics: Mapping[str, Statistics], noise: Statistics) -> Group:
    """What else a choice brings, and what finding it cost."""
    heads = ("method", "p99 short", "p99 long", "long share", "floors", "threads", "trying", "regret then", "error")
    table = _table(heads)
    for method, row in statistics.items():
        table.add_row(
            method,
            _shown(row, "p99_ratio_short", "{:.2f}"),
            _shown(row, "p99_ratio_long", "{:.2f}"),
            _shown(row, "long_share", "{:.2f}"),
            _shown(row, "broken", "{:.0%}"),
            _shown(row, "threads", "{:.0f}"),
            _shown(row, "trying_s", "{:.1f} s"),
            _shown(row, "trying_regret", "{:.1%}"),
            _shown(row, "error_mean", "{:.1%}"),
        )
    note = (
        "p99: latency over the reference's, of short and of long classes; long share: what the long classes get of "
        "what the default gives them; floors: share of workloads of which it breaks one, or a limit, and then counts "
        "as no better than the default; trying: until the last change; error: standard error of a workload's choice"
    )
    return Group(Text("What else it brings, and what finding it cost"), table, Text(note), *_noise_words(noise))


def trials_table(by_trials: Mapping[str, Mapping[int, Statistics]]) -> Group:
    """Mean regret of the methods that try, by the number of their trials."""
    counts = sorted({count for rows in by_trials.values() for count in rows})
    table = _table(("method", *(f"{count}" for count in counts)))
    for method, rows in by_trials.items():
        table.add_row(method, *(_shown(rows.get(count, {}), "regret_mean", "{:.1%}") for count in counts))
    return Group(Text("Mean regret by the number of trials"), table)


def load_table(by_load: Mapping[str, Statistics]) -> Group:
    """Mean regret of every method by how much the workloads ask of their servers."""
    table = _table(("method", *(f"{level} ({found['workloads']})" for level, found in by_load.items())))
    for method in next(iter(by_load.values()))["regret_mean"]:
        shown = (found["regret_mean"].get(method) for found in by_load.values())
        table.add_row(method, *("" if one is None else f"{one:.1%}" for one in shown))
    return Group(Text("Mean regret by load: by a window of the default"), table)


def _noise_words(noise: Statistics) -> list[Text]:
    if not noise:
        return []
    interval = "" if noise["low"] is None else f", 95 %: {noise['low']:+.1%}..{noise['high']:+.1%}"
    return [Text(f"noise floor: the default scored twice differs by {noise['mean']:+.1%} in J{interval}")]


def _table(heads: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0)
    table.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        table.add_column(head, justify="right", min_width=SHORTEST)
    return table


def _interval(low: float, high: float) -> str:
    return f"{100.0 * low:.1f}..{100.0 * high:.1f}%"


def _missing(row: Statistics, name: str) -> bool:
    return row.get(name) is None


def _shown(row: Statistics, name: str, form: str) -> str:
    return "" if _missing(row, name) else form.format(row[name])
