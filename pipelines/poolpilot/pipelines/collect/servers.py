"""The live servers and climbers that staging measures with."""

import os

from poolpilot.env.climbing.climb import Climber
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.server import PoolServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import Workload


def open_native(workload: Workload, initial: PoolTuple | None = None, backlog_limit: int | None = None) -> PoolServer:
    """Starts the embedded pool on the first processors and its load on the others, where there are any.

    Args:
        workload: What is sent.
        initial: Tuple in force at first; the default one if None.
        backlog_limit: Arrivals of an open loop that may wait for a connection; the load generator's default if None.

    Raises:
        SettingError: There are too few processors.
        ServerError: There are too few descriptors, or the pool or the load did not start.
    """
    from poolpilot.env.servers.native import MAX_CONNECTIONS, NativeServer, Pinning

    others = sorted(os.sched_getaffinity(0))[workload.cpus :]
    load = LoadSettings() if backlog_limit is None else LoadSettings(backlog_limit=backlog_limit)
    most = max(workload.connections, MAX_CONNECTIONS)
    return NativeServer(
        workload, pinning=Pinning(load=others or None), load_settings=load, initial=initial, max_connections=most
    )


def new_spectral_climber(knobs: KnobSpace) -> Climber:
    """A cold spectral climber from the default size, over the whole range of the server."""
    from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber

    return spectral_climber(ClimbSettings(), knobs)
