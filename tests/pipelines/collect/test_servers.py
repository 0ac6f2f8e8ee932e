"""The live side of staging: a pool under load, and a climber that stays within its range."""

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
