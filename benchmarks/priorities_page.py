"""Writes the parts of docs/results-pool.md on priorities and overload, and their picture.

How to run: `python benchmarks/priorities_page.py [--reports benchmarks/reports] [--page docs/results-pool.md]
[--images docs/images]` after `priorities_source.py`, `priorities_twin.py`, `priorities_short.py` and `overload.py`
(`--json benchmarks/reports/NAME.json` each), and `poolpilot bench pool` for the live parts (`pool.json`).
Results to expect: the parts of the page between their markers are written anew; a part without a file stays as it is.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import read_report, replaced
from poolpilot.pipelines.bench.parts.priorities import MIXES, weight_name
from poolpilot.pipelines.bench.parts.source_mixes import FIGURES, TOLD, Told
from priorities_picture import draw_live

Found = Mapping[str, Any]
WITHIN = 0.15
"""How far a prediction may be off."""

NOT_LOWER = Told(6, 0.8, "total", 1.0, True, True, "not lower")
"""What the text says of both classes together, which follows from what it says of each."""


def interval(found: Mapping[str, float], form: str = ".2f") -> str:
    """A mean with its interval; without one where there was a single repeat."""
    mean, low, high = (format(found[name], form) for name in ("mean", "low", "high"))
    return mean if "nan" in (low, high) else f"{mean} ({low} .. {high})"


def source_section(report: Found) -> str:
    """The numbers of Trub's text that nothing was fitted to beside the simulated ones, all over the original pool."""
    lines = ["| figure | weight | class | Trub's text | simulated | error |", "|---" * 6 + "|"]
    for row in (one for one in report["told"] if not one["fitted"]):
        lines.append(
            f"| {row['figure']} | {row['weight']:g} | {row['class']} | {row['source']:.2f} "
            f"| {row['simulated']['mean']:.2f} | {row['error']:+.1%} |"
        )
    return "\n".join(lines) + "\n"


def ratio_of(cell: Found | None, one: Told) -> Mapping[str, float] | None:
    """What a cell says of a class at a weight, relative to the original pool; None where that had none."""
    if cell is None:
        return None
    assert one.weight is not None
    first, second = FIGURES[one.figure]
    ratios = cell["ratios"] if one.of == "total" else cell["class_ratios"][first if one.of == "first" else second]
    found: Mapping[str, float] | None = ratios.get(weight_name(one.weight))
    return found


def as_ratio(one: Told) -> float:
    """What Trub's text says, relative to its original pool."""
    if one.over_original:
        return one.value
    original = next(other for other in TOLD if (other.figure, other.weight, other.of) == (one.figure, None, one.of))
    return one.value / original.value


def sign(source: float, found: Mapping[str, float] | None) -> str:
    """Whether what is found lies on the side of 1 that Trub's text says."""
    if found is None:
        return "-"
    if abs(source - 1.0) < 1e-9:
        return "yes" if abs(found["mean"] - 1.0) <= WITHIN else "**no**"
    if found["low"] <= 1.0 <= found["high"]:
        return "undecided"
    return "yes" if (found["mean"] > 1.0) == (source > 1.0) else "**no**"


def mixes_section(twin: Found, live: Found | None) -> str:
    """Class by class at the weights that Trub speaks of: his text, live, simulated, all over the original pool."""
    simulated = by_name(twin["cells"])
    measured = by_name(live["cells"]) if live else {}
    lines = ["| figure | weight | class | Trub | live (95 %) | sign | simulated |", "|---" * 7 + "|"]
    for one in (*TOLD, NOT_LOWER):
        if one.weight is None:
            continue
        mix = " + ".join(FIGURES[one.figure])
        of = "both" if one.of == "total" else FIGURES[one.figure][one.of == "second"]
        there, modelled = (ratio_of(found.get(mix), one) for found in (measured, simulated))
        source = as_ratio(one)
        shown = "-" if there is None else interval(there)
        expected = "-" if modelled is None else f"{modelled['mean']:.2f}"
        lines.append(
            f"| {one.figure} | {one.weight:g} | {of} | {source:.2f} | {shown} | {sign(source, there)} | {expected} |"
        )
    lines += ["", "![Throughput by weight, live and simulated](images/priorities.png)"]
    return "\n".join(lines) + "\n"


def by_name(cells: Sequence[Found]) -> dict[str, Found]:
    """The cells of the mixes."""
    return {cell["cell"]: cell for cell in cells if cell["part"] == "priorities" and cell["cell"] in MIXES}


def short_section(report: Found) -> str:
    """The arrangements of each family beside the default."""
    lines = [
        "| family | arrangement | short in time | short p99 over default | long over default | e^J over default |",
        "|---" * 6 + "|",
    ]
    for family in SHORT_FAMILIES:
        for name, row in report["families"][family]["rows"].items():
            if name != DEFAULT:
                over = (f"{row[key]['mean']:.2f}" for key in ("short_p99", "long_throughput", "worth"))
                lines.append(
                    f"| {family} | {TITLES.get(name, name)} | {row['short_in_time']['mean']:.0%} | "
                    + " | ".join(over)
                    + " |"
                )
    return "\n".join(lines) + "\n"


DEFAULT = "default tuple, FIFO"
TITLES = {
    "best tuple, FIFO": "best configuration, FIFO",
    "default tuple, best discipline": "default, best discipline",
}
"""Arrangements of the report as the page calls them."""

SHORT_FAMILIES = ("short_beside_long", "short_beside_silent_long")
"""Families of the table; on the third, of drawn machines, intervals are wider than what lies between arrangements."""
ARRANGEMENTS = ("nothing", "priorities", "size", "all three", "all three, high exempt, low refused")
"""Contenders of the overload that the table shows; the report has more."""


def overload_section(report: Found, live: Found | None) -> str:
    """What each contender leaves of the goodput of both classes, live and simulated."""
    lines = [
        "| pool | live: high keeps | low in time/s | simulated: high keeps | low in time/s |",
        "|---" * 5 + "|",
    ]
    for name in ARRANGEMENTS:
        simulated = (report["rows"][name], report["rows"][name].get("high_kept"))
        measured = ({}, None) if live is None else (live["contenders"][name], live["ratios"].get(name))
        cells = [cell for found in (measured, simulated) for cell in kept_cells(*found)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def kept_cells(row: Found, kept: Found | None) -> tuple[str, str]:
    """What the urgent class keeps of its goodput without overload, and what the other one gets in time."""
    if not row:
        return "-", "-"
    return "0" if kept is None else f"{kept['mean']:.3f}", format(row["low_goodput_per_s"]["mean"], ",.0f")


def main() -> None:
    """Writes every part whose report there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/results-pool.md"))
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    names = ("priorities_source", "priorities_twin", "priorities_short", "overload", "pool")
    source, twin, short, overload, pool = (read_report(arguments.reports / f"{name}.json") for name in names)
    cells = pool["cells"] if pool else []
    live = {"cells": cells} if by_name(cells) else None
    if source:
        page = replaced(page, "priorities_source", source_section(source))
    if twin:
        page = replaced(page, "priorities", mixes_section(twin, live))
        draw_live(by_name(twin["cells"]), by_name(cells), arguments.images / "priorities.png")
    if short:
        page = replaced(page, "short_beside_long", short_section(short))
    if overload:
        measured = next((one for one in cells if one["part"] == "overload"), None)
        page = replaced(page, "overload", overload_section(overload, measured))
    arguments.page.write_text(page)


if __name__ == "__main__":
    main()
