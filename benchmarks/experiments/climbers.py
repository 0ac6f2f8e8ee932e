"""Controllers of the pool size beside each other, on curves and on simulated pools."""

from climbing import curves, pools
from climbing.reference_controllers import BASELINES, SPECTRAL
from climbing.server_controllers import NAMES
from climbing.summary import summarise
from harness.experiment import Experiment

ON_CURVES = (SPECTRAL, *BASELINES)
REPEATS = 30


def _seeds(cell: str) -> range:
    return curves.seeds_of(cell, REPEATS)


EXPERIMENTS = {
    "climbers": Experiment(
        "Which controller of the size loses least on curves with a known optimum? A quarter of an hour.",
        scenarios=tuple(curves.CELLS),
        measure=curves.measured,
        summarise=summarise,
        arms=ON_CURVES,
        seeds=_seeds,
        together=True,
    ),
    "climbers_simulated": Experiment(
        "Which loses least on simulated pools, where windows tell more? A quarter of an hour.",
        scenarios=pools.PLACES,
        measure=pools.measured,
        summarise=summarise,
        arms=NAMES,
        seeds=(1, 2, 3),
        together=True,
    ),
}
