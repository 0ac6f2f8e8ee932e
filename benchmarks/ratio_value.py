"""What each ratio buys: one look at the default, the choice of least expected regret, with and without the ratio.

    python benchmarks/ratio_value.py [--json benchmarks/reports/ratio_value.json]

Every workload drawn from the shipped library is taken out of it, with all of its family (of what is composed at
random: all of its composition), and chosen for by the rest, from what its window under the default looked like. Regret
is that of the choice on its own curve. Nothing is simulated or measured; minutes. `benchmarks/evaluation_page.py`
writes the table.
"""

import argparse
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.workloads.simulated_families import COMPOSED
from poolpilot.models.latent.latent_advisor import LatentAdvisorSettings
from poolpilot.models.latent.likeness import mean_squares
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves

WORKLOADS = 600
"""Workloads that are chosen for."""

SEED = 0
ALL = "all of them"
NONE = "none of them"


def main() -> None:
    """Chooses with every set of ratios and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/ratio_value.json"))
    path = parser.parse_args().json
    study = Study(load_curves())
    names = study.curves.ratio_names
    every = range(len(names))
    rows = [study.row(ALL, every), study.row(NONE, [])]
    for place, name in enumerate(names):
        rows.append(study.row(name, [place]) | study.left_out([one for one in every if one != place]))
        print(rows[-1])
    write_json(path, {"library": study.curves.source, "workloads": WORKLOADS, "rows": rows})


class Study:
    """A library, and the workloads of it that are chosen for.

    Args:
        curves: The library.
    """

    def __init__(self, curves: ResponseCurves) -> None:
        self.curves = curves
        self.chosen_for = np.random.default_rng(SEED).choice(len(curves.curves), WORKLOADS, replace=False)
        self.place_on = cache(lambda cpus: PlacedCurves.on(curves, KnobSpace.stock(cpus), Objective()))

    def row(self, name: str, kept: Sequence[int]) -> dict[str, float | str]:
        """Regret where only some ratios are looked at."""
        regrets = self._regrets(kept)
        return {"ratio": name, "regret_alone": float(regrets.mean())}

    def left_out(self, kept: Sequence[int]) -> dict[str, float | str]:
        """Regret where one is missing, and the standard error over families of what that costs."""
        costs = self._regrets(kept) - self._regrets(range(len(self.curves.ratio_names)))
        groups = np.array([group_of(self.curves.curves[place]) for place in self.chosen_for])
        means = [costs[groups == group].mean() for group in sorted(set(groups))]
        return {"cost_of_leaving_out": float(costs.mean()), "its_error": float(np.std(means) / np.sqrt(len(means)))}

    def _regrets(self, kept: Sequence[int]) -> NDArray[np.float64]:
        return np.array([self._regret(int(place), list(kept)) for place in self.chosen_for])

    def _regret(self, place: int, kept: list[int]) -> float:
        curve = self.curves.curves[place]
        placed = self.place_on(curve.cpus)
        weights = self._weights(place, kept)
        expected = np.where(placed.useful_for(curve.connections), weights @ placed.regrets, np.inf)
        return float(placed.regrets[place, int(np.argmin(expected))])

    def _weights(self, place: int, kept: list[int]) -> NDArray[np.float64]:
        curves = self.curves
        own = group_of(curves.curves[place])
        others = np.array([group_of(curve) != own for curve in curves.curves])
        weights = np.where(others, curves.prior, 0.0)
        if not kept:
            return normalised(weights)
        limits = KnobSpace.stock(curves.curves[place].cpus)
        looks = curves.ratios[:, curves.grid.nearest_reference(limits, limits.default_tuple()), kept]
        distances = mean_squares(looks[place], looks, curves.spreads[kept])
        bandwidth = LatentAdvisorSettings().likeness.bandwidth
        weights = weights * np.exp(-(distances - distances[others].min()) / (2.0 * bandwidth**2))
        return normalised(weights)


def normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that add up to 1."""
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def group_of(curve: ResponseCurve) -> str:
    """What is left out with a curve."""
    return curve.composition if curve.family == COMPOSED else curve.family


if __name__ == "__main__":
    main()
