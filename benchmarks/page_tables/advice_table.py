"""What advice is worth by the number of processors, for docs/results-evaluation.md."""

import math
from collections.abc import Mapping
from typing import Any

from page_tables.part import Part, table

Row = Mapping[str, Any]
VERDICTS = ("change", "leave it", "no advice")
SOURCES = ("curves", "network")
"""Who answers; what the network states is of its own card."""


def advice_table(report: Row) -> str:
    """One line for each size of machine."""
    heads = ("processors", "observations", *VERDICTS, "changes gain", "lose > 5 %")
    stated_heads = (f"gain within the interval of the {source}" for source in SOURCES)
    lines = []
    for row in report["rows"]:
        counts = (str(row[name]) for name in ("cpus", "workloads", *VERDICTS))
        within = ("{within} of {stated}".format(**row[source]) for source in SOURCES)
        lines.append((*counts, gain_words(row), f"{row['lose']} of {row['change']}", *within))
    return table((*heads, *stated_heads), lines)


def gain_words(row: Row) -> str:
    """The mean gain as a factor, with its interval."""
    if row["gain"] is None:
        return "-"
    mean, low, high = (None if row[name] is None else math.exp(row[name]) for name in ("gain", "gain_low", "gain_high"))
    return f"x{mean:.1f}" + ("" if low is None else f" ({low:.1f}..{high:.1f})")


PARTS = (Part("docs/results-evaluation.md", "advice", ("advice_by_processors",), advice_table),)
