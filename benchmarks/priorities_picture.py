"""A picture of throughput over the weight of a class, after Trub's figures 6 to 8 (Trub (priorities))."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from poolpilot.pipelines.bench.parts.priorities import MIXES, ORIGINAL, WEIGHTS, weight_name

COLOURS = {"first": "#2980b9", "second": "#c0392b", "total": "#2c3e50"}
Interval = Mapping[str, float]


def curve(axes: Axes, of: str, label: str, points: Sequence[Interval], style: str = "-") -> None:
    """Means with their intervals over the weights, in thousands a second."""
    means = [one["mean"] / 1e3 for one in points]
    reach = [0.0 if one["high"] != one["high"] else (one["high"] - one["mean"]) / 1e3 for one in points]
    axes.errorbar(WEIGHTS, means, reach, label=label, color=COLOURS[of], linestyle=style, marker=".", capsize=2)


def level(axes: Axes, of: str, value: float, label: str, style: str) -> None:
    """A constant, as Trub draws what has no weight."""
    axes.axhline(value / 1e3, color=COLOURS[of], linestyle=style, linewidth=0.9, label=label)


def draw_live(simulated: Mapping[str, Any], live: Mapping[str, Any], path: Path) -> None:
    """The mixes on the live pool, where they were measured, above the simulated one."""
    lines = [(name, cells) for name, cells in (("live", live), ("simulated", simulated)) if cells]
    figure = Figure(figsize=(13.0, 3.6 * len(lines)), layout="constrained")
    for line, (where, cells) in enumerate(lines):
        for column, mix in enumerate(MIXES.values()):
            axes = figure.add_subplot(len(lines), len(MIXES), 1 + column + line * len(MIXES))
            found = cells[mix.name]["contenders"]
            keys = dict(zip(("first", "second"), (f"{name}_throughput_per_s" for name in mix.class_names), strict=True))
            for of, key in {**keys, "total": "throughput_per_s"}.items():
                name = key.removesuffix("_throughput_per_s") if of != "total" else "both"
                curve(axes, of, name, [found[weight_name(weight)][key] for weight in WEIGHTS])
                level(axes, of, found[ORIGINAL][key]["mean"], f"{name}, original", "--")
                level(axes, of, found["FIFO"][key]["mean"], f"{name}, FIFO", ":")
            axes.set_title(f"{where}: {mix.name}", fontsize="medium")
            axes.set_xlabel(f"weight of {mix.second.name}")
            axes.set_ylabel("thousand requests a second" if column == 0 else "")
            axes.set_ylim(bottom=0.0)
            axes.legend(fontsize="x-small", ncols=2)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Writes the picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
