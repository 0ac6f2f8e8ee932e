"""Figures 6 to 8 of Trub (priorities), simulated: fitted to what the text says of some weights, others predicted.

How to run: `python benchmarks/priorities_source.py [--evaluations 50] [--seeds 5] [--json benchmarks/reports/
priorities_source.json]` (ten minutes; the same numbers every time). Model and what Trub's text says:
`pipelines/bench/parts/source_mixes.py`. Results to expect: figure 6 fitted within 15 % at the original pool and at
0.8; the prediction for figure 8 within some per cent; that for the write-only class of figure 7 far off, as sysbench's
composition alone does not say what holds writers up. Rows that they queue up for do, but with numbers fitted to that
very figure.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from poolpilot.env.output import write_json
from poolpilot.native_pool.workload import RequestClass
from poolpilot.pipelines.bench.parts.priorities import WEIGHTS
from poolpilot.pipelines.bench.parts.source_mixes import (
    FIGURES,
    PROCESSORS,
    TOLD,
    Rates,
    Told,
    alone,
    fitted_costs,
    fitted_rows,
    rates_of,
)
from poolpilot.pipelines.bench.serving.interval import Interval

ORIGINAL = "original"
EXPLAINED = 7
"""The figure that rows explain."""


def curves(classes: Mapping[str, RequestClass], cpus: int, figures: Sequence[int], seeds: int) -> dict[int, Rates]:
    """Rates of figures at all weights, by seed."""
    places = [(figure, weight) for figure in figures for weight in (None, *WEIGHTS)]
    return {seed: {place: rates_of(place, classes, cpus, seed) for place in places} for seed in range(1, seeds + 1)}


def figure_rows(by_seed: dict[int, Rates], figure: int) -> dict[str, dict[str, Any]]:
    """What a figure shows: each class and both together, by weight, with intervals over the seeds."""
    rows = {}
    for weight in (None, *WEIGHTS):
        pairs = np.array([rates[figure, weight] for rates in by_seed.values()])
        columns = {"first": pairs[:, 0], "second": pairs[:, 1], "total": pairs.sum(axis=1)}
        name = ORIGINAL if weight is None else f"{weight:.1f}"
        rows[name] = {of: Interval.of(values.tolist()).as_dict() for of, values in columns.items()}
    return rows


def told_rows(by_seed: dict[int, Rates], told: Sequence[Told]) -> list[dict[str, Any]]:
    """What Trub's text says, what is simulated, and the error relative to the text."""
    rows = []
    for one in told:
        found = [one.found(rates) for rates in by_seed.values()]
        rows.append(
            {
                "figure": one.figure,
                "class": "both" if one.of == "total" else FIGURES[one.figure][one.of == "second"],
                "weight": one.weight,
                "words": one.words,
                "over_original": one.over_original,
                "fitted": one.fitted,
                "source": one.value,
                "simulated": Interval.of(found).as_dict(),
                "error": fmean(found) / one.value - 1.0,
            }
        )
    return rows


def show(result: dict[str, Any]) -> None:
    """Prints what was fitted and how far it is off."""
    print("distance by processors:", result["distances"])
    print("costs in us:", {name: round(value, 1) for name, value in result["costs"].items()})
    print("rows in us:", result["explained"]["rows"])
    for of, told in (("", result["told"]), ("with rows, ", result["explained"]["told"])):
        for row in told:
            used = "fitted" if row["fitted"] or of else "predicted"
            place = ORIGINAL if row["weight"] is None else row["weight"]
            print(f"{of}figure {row['figure']} {place!s:9} {row['class']:13} {used:9} source {row['source']:9g} "
                  f"simulated {row['simulated']['mean']:9.6g} {row['error']:+.1%}")  # fmt: skip


def main() -> None:
    """Fits, predicts, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    fits = {cpus: fitted_costs(cpus, arguments.evaluations) for cpus in PROCESSORS}
    cpus = min(fits, key=lambda one: fits[one][1])
    costs = fits[cpus][0]
    classes = costs.classes()
    by_seed = curves(classes, cpus, list(FIGURES), arguments.seeds)
    rows = fitted_rows(costs, cpus, arguments.evaluations)
    with_rows = curves({**classes, "write_only": rows.write_only(costs)}, cpus, [EXPLAINED], arguments.seeds)
    result = {
        "distances": {str(one): distance for one, (_, distance) in fits.items()},
        "cpus": cpus,
        "costs": costs.as_dict(),
        "alone": {
            name: Interval.of([alone(one, cpus, seed) for seed in by_seed]).as_dict() for name, one in classes.items()
        },
        "figures": {
            str(figure): {"classes": names, "rows": figure_rows(by_seed, figure)} for figure, names in FIGURES.items()
        },
        "told": told_rows(by_seed, TOLD),
        "explained": {
            "rows": asdict(rows),
            "figure": figure_rows(with_rows, EXPLAINED),
            "told": told_rows(with_rows, [one for one in TOLD if one.figure == EXPLAINED]),
        },
    }
    show(result)
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
