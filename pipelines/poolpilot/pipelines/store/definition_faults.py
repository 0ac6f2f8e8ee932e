"""Workloads whose definitions cannot be read: what else is checked hangs on them."""

from collections.abc import Iterator

from poolpilot.errors import PoolPilotError
from poolpilot.pipelines.store.dataset import limits_of, objective_of, one_grid
from poolpilot.pipelines.store.fault import Fault
from poolpilot.pipelines.store.leak_faults import composition_of
from poolpilot.pipelines.store.store_contents import StoreContents


def definition_faults(contents: StoreContents) -> Iterator[Fault]:
    """Definitions of a store that are not what a collection writes.

    Args:
        contents: What is in the store.
    """
    for place, row in contents.definitions:
        try:
            composition_of(row)
            limits_of(row)
            objective_of(row)
            one_grid(contents.directory, [row])
        except (PoolPilotError, ValueError, TypeError, KeyError, AttributeError) as error:
            sentence = (
                f"{place}: the definition of workload {row['workload_id']!r} cannot be read ({error!r}); collect into "
                "a new directory"
            )
            yield Fault("schema", place.segment, row["workload_id"], sentence)
