"""Connection handlers beside each other, from one connection to thousands, and reconnecting at each request."""

from collections.abc import Iterator
from typing import Any

from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.sliced import SlicedCell, slices_for
from poolpilot.pipelines.bench.serving.trial import PoolTrial
from poolpilot.pipelines.bench.serving.works import WORKS, closed_loop

HANDLERS = ("per_connection", "pool", "hybrid")
SPARE_DESCRIPTORS = 512
"""Of the interpreter, the groups and clients whose close the server has yet to see."""


def handler_cells(settings: PoolBenchSettings) -> Iterator[SlicedCell]:
    """Every work at every number of connections."""
    for work in WORKS:
        for connections in settings.connections:
            contenders = {
                handler: trial(settings, work, connections, {"handler": handler}).opened for handler in HANDLERS
            }
            yield SlicedCell(
                "handlers", cell_name(work, connections), contenders, settings.window_s, slices_for(connections)
            )


def reconnect_cells(settings: PoolBenchSettings) -> Iterator[SlicedCell]:
    """A connection for each request, with the short cut for clients that hang up and without it."""
    load = LoadSettings(reconnect=True, reset_on_close=True)
    for connections in settings.reconnecting:
        contenders = {
            f"{handler}, {'at once' if at_once else 'by a read'}": trial(
                settings, "null", connections, {"handler": handler, "hang_up_at_once": at_once}, load
            ).opened
            for handler in HANDLERS
            for at_once in (True, False)
        }
        yield SlicedCell(
            "reconnect", cell_name("null", connections), contenders, settings.window_s, slices_for(connections)
        )


def cell_name(work: str, connections: int) -> str:
    """How a cell is called."""
    return f"{work} at {connections}"


def trial(
    settings: PoolBenchSettings,
    work: str,
    connections: int,
    options: dict[str, Any],
    load_settings: LoadSettings | None = None,
) -> PoolTrial:
    """A fresh pool with some options under a load."""
    most = 2 * connections + SPARE_DESCRIPTORS if load_settings else connections + SPARE_DESCRIPTORS
    served = Served(
        "pool",
        settings.server_cpus,
        descriptors=most,
        options={"max_connections": most, "class_names": [work], **options},
    )
    workload = closed_loop(work, connections)
    return PoolTrial(served, workload, settings.load_cpus, settings.settle_s, settings.window_s, load_settings)
