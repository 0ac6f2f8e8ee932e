"""The live side of staging: a pool under load, and a climber that stays within its range."""

import pytest

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE
from poolpilot.env.servers.native import MAX_CONNECTIONS, MOST_OF_A_GROUP, SPARE_DESCRIPTORS, reserve_descriptors
from poolpilot.errors import ServerError
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.collect.servers import new_spectral_climber, open_native


def test_a_native_server_serves_its_workload_on_its_processors() -> None:
    workload = Workload("w", "f", (RequestClass("all", (Step("cpu", us=200.0),)),), connections=4, cpus=1)
    with open_native(workload) as server:
        before = server.snapshot()
        while server.snapshot().counters["completed"] < before.counters["completed"] + 100:
            server.run_for(0.05)
        assert server.knobs.cpus == 1
        assert server.tuple_in_force().core == server.knobs.default_tuple().core
        climber = new_spectral_climber(server.knobs)
        sizes = [climber.update(1000.0, 4, 0.004, 1, 0.1, None) for _ in range(100)]
    assert all(1 <= size <= server.knobs.knobs["pool_size"].high for size in sizes)
    assert len(set(sizes)) > 1


def test_a_native_server_takes_more_connections_than_a_pool_does_by_default() -> None:
    connections = MAX_CONNECTIONS + 1
    try:
        reserve_descriptors(connections + MOST_OF_A_GROUP * STOCK_MAX_POOL_SIZE + SPARE_DESCRIPTORS)
    except ServerError as error:
        pytest.skip(f"the limits of this machine do not allow {connections} connections: {error}")
    patient = RequestClass("all", (Step("cpu", us=5.0),), think_ms=60_000.0)
    with open_native(Workload("many", "f", (patient,), connections=connections, cpus=1)) as server:
        assert server.tuple_in_force().core == server.knobs.default_tuple().core
