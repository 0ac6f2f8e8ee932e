"""In virtual time every tuple is judged on a pool of its own: what another one has left there is nothing to it."""

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.server import OfferedLoad, PoolServer, VirtualTime
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.evaluate.live.judging.own_pools import OwnPools, judging_server
from poolpilot.pipelines.evaluate.stage import Stage

QUERY = RequestClass("query", (Step("cpu", us=100.0), Step("wait", us=4000.0)), target_ms=50.0)
CLOSED = Workload("closed", "mine", (QUERY,), connections=32, cpus=2)
OPEN = Workload("open", "mine", (QUERY,), connections=32, cpus=2, rate_per_s=5000.0)
DEFAULT, LARGE = PoolTuple(2, 3, 500), PoolTuple(32, 3, 500)
WARM_UP_S = 2.0


def counted(server: PoolServer, pool_tuple: PoolTuple) -> float:
    server.apply(pool_tuple)
    return observe(server, 1.0).window.throughput_per_s


def test_tuple_goes_on_where_it_was_whatever_was_in_force_meanwhile() -> None:
    alone = SimulatedServer(CLOSED)
    alone.run_for(WARM_UP_S)
    wanted = [observe(alone, 1.0).window.throughput_per_s for _ in range(2)]
    with OwnPools(lambda: SimulatedServer(CLOSED), WARM_UP_S) as pools:
        first, between, second = (counted(pools, each) for each in (DEFAULT, LARGE, DEFAULT))
    assert [first, second] == wanted
    assert between > 2.0 * first


def test_every_pool_has_served_under_the_default_before() -> None:
    follows = SimulatedServer(CLOSED)
    follows.run_for(WARM_UP_S)
    wanted = counted(follows, LARGE)
    with OwnPools(lambda: SimulatedServer(CLOSED), WARM_UP_S) as pools:
        assert pools.tuple_in_force() == DEFAULT
        assert counted(pools, LARGE) == wanted
        assert pools.tuple_in_force() == LARGE


def test_what_a_measurement_asks_for_is_passed_on_to_the_pool() -> None:
    with OwnPools(lambda: SimulatedServer(OPEN), WARM_UP_S) as pools:
        assert isinstance(pools, VirtualTime)
        assert isinstance(pools, OfferedLoad)
        pools.apply(LARGE)
        before = pools.snapshot().time_s
        pools.run_requests(100, 10.0, 0.0)
        assert 0.0 < pools.snapshot().time_s - before < 1.0
        assert pools.thread_changes() > 0.0
        pools.begin_load_anew()
        assert pools.snapshot().time_s < before
        assert pools.tuple_in_force() == LARGE


def test_only_virtual_time_has_several_pools() -> None:
    simulated = Stage("mine", "ours", 0, Objective(), lambda: SimulatedServer(CLOSED), in_virtual_time=True)
    with judging_server(simulated, WARM_UP_S) as each:
        assert isinstance(each, OwnPools)
    live = CurveServer([(1, 100), (64, 600)], cpus=4)
    with judging_server(Stage("mine", "ours", 0, Objective(), lambda: live), WARM_UP_S) as one:
        assert one is live


def test_every_pool_is_closed_even_if_a_measurement_fails() -> None:
    opened = list[CurveServer]()

    def open_pool() -> CurveServer:
        opened.append(CurveServer([(1, 100), (64, 600)], cpus=4))
        return opened[-1]

    def measured() -> None:
        with OwnPools(open_pool, 0.0) as pools:
            pools.apply(PoolTuple(64, 3, 500))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured()
    assert len(opened) == 2
