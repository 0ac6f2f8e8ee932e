"""The live pool under more connections than a process of a load usually holds."""

from collections.abc import Callable
from typing import Literal

import pytest

from poolpilot.errors import ServerError
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Step, Workload

pytest.importorskip(
    "poolpilot.native_pool._core", reason="THE NATIVE EXTENSION IS NOT BUILT: the live pool is not tested"
)

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE
from poolpilot.env.servers.native import SPARE_DESCRIPTORS, NativeServer, reserve_descriptors


@pytest.mark.parametrize(
    ("connections", "processes", "kind"),
    [(4096, 2, "tcp"), (4096, 2, "unix"), (16_384, 4, "tcp"), (16_384, 4, "unix")],
)
def test_every_connection_is_served_and_given_back(
    connections: int, processes: int, kind: Literal["unix", "tcp"], left_open: Callable[[], set[str]]
) -> None:
    try:
        reserve_descriptors(connections + 2 * STOCK_MAX_POOL_SIZE + SPARE_DESCRIPTORS)
    except ServerError as error:
        pytest.skip(f"the limits of this machine do not allow {connections} connections: {error}")
    # Everybody sends once within the ramp, and hardly anybody again.
    patient = RequestClass("all", (Step("cpu", us=5.0),), think_ms=60_000.0)
    workload = Workload("many", "test", (patient,), connections=connections, cpus=1)
    settings = LoadSettings(processes=processes, ramp_s=1.0)
    with NativeServer(workload, address_kind=kind, max_connections=connections, load_settings=settings) as server:
        while server.load_report().sent < connections:
            server.run_for(0.05)
        assert server.snapshot().gauges["connections"] == connections
        assert server.load_report().connections == connections
    final = server.load_report()
    assert final.sent == final.completed >= connections
    assert final.errors == {}
    assert len(final.loops) == processes
    assert left_open() == set()
