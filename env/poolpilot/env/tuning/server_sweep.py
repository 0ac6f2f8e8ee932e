"""What a sweep of a running server would set and for how long, before anything is set."""

from collections.abc import Sequence

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.server import Tunable
from poolpilot.featurizer.pool_tuple import PoolTuple


def grid_tuples(server: Tunable, first: PoolTuple, grid: ActionGrid = DEFAULT_GRID) -> list[PoolTuple]:
    """The tuples of a grid that a server takes, and the one at the beginning."""
    allowed = grid.mask(server.knobs)
    taken = [one for one, take in zip(grid.tuples, allowed, strict=True) if take]
    return sorted({first, *(first.with_core(one.core) for one in taken)})


def longest_sweep_s(tuples: Sequence[PoolTuple], settings: MeasurementSettings) -> float:
    """Seconds that a sweep takes at most, the tuple at the beginning in every round."""
    return settings.most_windows(len(tuples), holds_reference=True) * max(settings.longest_s(one) for one in tuples)


def dry_run(tuples: Sequence[PoolTuple], settings: MeasurementSettings) -> str:
    """What a sweep would do, as a sentence."""
    return (
        f"Would set {len(tuples)} configurations from {tuples[0]} to {tuples[-1]} in turn, "
        f"{longest_sweep_s(tuples, settings):.0f} s at most, "
        "and restore the one in force; add --execute to do it. For staging: bad ones are among them."
    )
