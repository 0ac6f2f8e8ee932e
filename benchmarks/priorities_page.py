"""Writes the parts of docs/pool.md on priorities and overload, and their pictures.

How to run: `python benchmarks/priorities_page.py [--reports benchmarks/reports] [--page docs/pool.md] [--images
docs/images]` after `priorities_source.py`, `priorities_twin.py`, `priorities_short.py` and `overload.py` (`--json
benchmarks/reports/NAME.json` each), and `poolpilot bench pool --json benchmarks/reports/pool.json` for the live parts.
Results to expect: the parts of the page between their markers are written anew; a part without a file stays as it is.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import read_report, replaced
from poolpilot.pipelines.bench.parts.priorities import MIXES, ORIGINAL, weight_name
from poolpilot.pipelines.bench.parts.source_mixes import FIGURES, TOLD, Told
from priorities_picture import draw_live, draw_source

Found = Mapping[str, Any]
WITHIN = 0.15
"""How far a prediction may be off."""

NOT_LOWER = Told(6, 0.8, "total", 1.0, True, True, "not lower")
"""What the text says of both classes together, which follows from what it says of each."""


def interval(found: Mapping[str, float], form: str = ".2f") -> str:
    """A mean with its interval; without one where there was a single repeat."""
    mean, low, high = (format(found[name], form) for name in ("mean", "low", "high"))
    return mean if "nan" in (low, high) else f"{mean} ({low} .. {high})"


def told_line(row: Found, used: str) -> str:
    """One number of Trub's text beside the simulated one."""
    form = ".2f" if row["over_original"] else ",.0f"
    place = ORIGINAL if row["weight"] is None else f"{row['weight']:g}"
    verdict = "yes" if abs(row["error"]) <= WITHIN else "**no**"
    unit = " x original" if row["over_original"] else "/s"
    return (
        f"| {row['figure']} | {place} | {row['class']} | {format(row['source'], form)}{unit} ({row['words']}) | "
        f"{interval(row['simulated'], form)} | {row['error']:+.1%} | {used} | {verdict} |"
    )


def source_section(report: Found) -> str:
    """All numbers of Trub's text beside the simulated ones."""
    lines = [
        "| figure | weight | class | Trub's text | simulated (95 %) | error | | within 15 % |",
        "|---" * 8 + "|",
        *(told_line(row, "fitted" if row["fitted"] else "predicted") for row in report["told"]),
        *(told_line(row, "fitted, with rows") for row in report["explained"]["told"]),
        "",
        f"Both classes of figure 6 together at 0.8: {NOT_LOWER.words} in the text, simulated {total_kept(report):.3f} "
        "of the original pool's.",
        "",
        f"Fitted: {report['cpus']} processors (of {', '.join(report['distances'])}); microseconds of a processor for a "
        + ", ".join(
            f"{name.replace('_us', '').replace('_', ' ')} {value:,.1f}" for name, value in report["costs"].items()
        )
        + f"; with rows, each held for {report['explained']['rows']['hold_us']:,.0f} us and dearer by "
        f"{report['explained']['rows']['waiter_cost_us']:,.1f} us for each who waits for it.",
        "",
        "![Trub's figures 6 to 8, simulated](images/priorities_source.png)",
    ]
    return "\n".join(lines) + "\n"


def total_kept(report: Found) -> float:
    """What figure 6 gives in all where the text says that it is not lower."""
    rows = report["figures"][str(NOT_LOWER.figure)]["rows"]
    kept: float = rows[f"{NOT_LOWER.weight:.1f}"]["total"]["mean"] / rows[ORIGINAL]["total"]["mean"]
    return kept


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
    lines = [
        "| mix | weight | class | Trub | live (95 %) | sign | simulated (95 %) | sign |",
        "|---" * 8 + "|",
    ]
    for one in (*TOLD, NOT_LOWER):
        if one.weight is None:
            continue
        mix = " + ".join(FIGURES[one.figure])
        of = "both" if one.of == "total" else FIGURES[one.figure][one.of == "second"]
        cells = [ratio_of(found.get(mix), one) for found in (measured, simulated)]
        source = as_ratio(one)
        shown = [item for cell in cells for item in ("-" if cell is None else interval(cell), sign(source, cell))]
        lines.append(f"| {mix} | {one.weight:g} | {of} | {source:.2f} | " + " | ".join(shown) + " |")
    lines += ["", "![Throughput by weight, live and simulated](images/priorities.png)"]
    return "\n".join(lines) + "\n"


def by_name(cells: Sequence[Found]) -> dict[str, Found]:
    """The cells of the mixes."""
    return {cell["cell"]: cell for cell in cells if cell["part"] == "priorities" and cell["cell"] in MIXES}


def short_section(report: Found) -> str:
    """The four arrangements of each family."""
    lines = [
        "| family | arrangement | short in time | short p99 over default (95 %) | short in time a second "
        "| long over default (95 %) | e^J over default (95 %) |",
        "|---" * 7 + "|",
    ]
    for family, found in report["families"].items():
        for name, row in found["rows"].items():
            lines.append(
                f"| {family} | {name} | {row['short_in_time']['mean']:.0%} | {interval(row['short_p99'])} | "
                f"{row['short_goodput_per_s']:,.0f} | {interval(row['long_throughput'])} | {interval(row['worth'])} |"
            )
    chosen = [
        f"{family}: " + ", ".join(f"{name} {count}" for name, count in found["choices"][BEST_DISCIPLINE].items())
        for family, found in report["families"].items()
    ]
    count = report["workloads"]
    lines += ["", f"Best discipline at the default tuple, of {count} workloads each: {'; '.join(chosen)}."]
    return "\n".join(lines) + "\n"


BEST_DISCIPLINE = "default tuple, best discipline"


def overload_section(rows: Mapping[str, Found], kept: Callable[[str], Mapping[str, float] | None]) -> str:
    """What each contender leaves of the goodput, and how busy the processor is."""
    lines = [
        "| pool | high keeps (95 %) | high p99 ms | low in time/s | low answered/s | low p99 ms | processor busy |",
        "|---" * 7 + "|",
    ]
    for name, row in rows.items():
        ratio = kept(name)
        cells = [
            "0" if ratio is None else interval(ratio, ".3f"),
            format(row["high_p99_ms"]["mean"], ",.1f"),
            format(row["low_goodput_per_s"]["mean"], ",.0f"),
            format(row["low_throughput_per_s"]["mean"], ",.0f"),
            format(row["low_p99_ms"]["mean"], ",.0f"),
            format(row["busy_cpus"]["mean"], ".1%"),
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    capacities = [row["capacity_per_s"]["mean"] for row in rows.values()]
    lines += ["", f"Capacity {sum(capacities) / len(capacities):,.0f} requests a second."]
    return "\n".join(lines) + "\n"


def simulated_overload(report: Found) -> str:
    """The overload in virtual time."""
    return overload_section(report["rows"], lambda name: report["rows"][name].get("high_kept"))


def live_overload(cell: Found) -> str:
    """The overload of the live pool; who is compared with keeps all."""
    whole = {"mean": 1.0, "low": 1.0, "high": 1.0}
    first = next(iter(cell["contenders"]))
    return overload_section(cell["contenders"], lambda name: whole if name == first else cell["ratios"].get(name))


def main() -> None:
    """Writes every part whose report there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/pool.md"))
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    names = ("priorities_source", "priorities_twin", "priorities_short", "overload", "pool")
    source, twin, short, overload, pool = (read_report(arguments.reports / f"{name}.json") for name in names)
    cells = pool["cells"] if pool else []
    live = {"cells": cells} if by_name(cells) else None
    if source:
        page = replaced(page, "priorities_source", source_section(source))
        draw_source(source, arguments.images / "priorities_source.png")
    if twin:
        page = replaced(page, "priorities", mixes_section(twin, live))
        draw_live(by_name(twin["cells"]), by_name(cells), arguments.images / "priorities.png")
    if short:
        page = replaced(page, "short_beside_long", short_section(short))
    if overload:
        page = replaced(page, "overload_simulated", simulated_overload(overload))
    for cell in (one for one in cells if one["part"] == "overload"):
        page = replaced(page, "overload", live_overload(cell))
    arguments.page.write_text(page)


if __name__ == "__main__":
    main()
