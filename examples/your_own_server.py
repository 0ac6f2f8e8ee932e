"""A server of your own: the `PoolServer` protocol for a `concurrent.futures` pool of Python threads.

Sixteen clients send a task each, wait for the answer and send the next. A task waits 4 ms for a remote service, then
holds a lock, for the longer the more tasks run: too many workers, its one knob, are as bad as too few. In this folder:

    poolpilot climb --server your_own_server:ExecutorServer --seconds 6
    poolpilot climb --search --server your_own_server:ExecutorServer --knob pool_size --rounds 12 --set method=random
    poolpilot tune --server your_own_server:ExecutorServer --mode apply --set pace.observe_for_s=5
    python your_own_server.py  # climbs from 2 workers, then searches, and prints about this:

    climb :  2 workers,  599/s ->  9 workers, 2008/s
    search:  2 workers,  540/s -> 10 workers, 2014/s
"""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Lock

from poolpilot.agent import RandomSearch, SearchSettings, SearchSpace
from poolpilot.env import ClimbController, ClimbSettings, Knob, KnobSpace, Objective, spectral_climber, tune
from poolpilot.featurizer import Histogram, PoolTuple, Snapshot

CLIENTS, REMOTE_S, CONTENTION_S = 16, 0.004, 0.00004


class ExecutorServer(AbstractContextManager["ExecutorServer"]):
    """A pool of Python threads under the load of its clients."""

    def __init__(self) -> None:
        self.knobs = KnobSpace.of(2, Knob("pool_size", 1, CLIENTS, 2, "workers"))
        self._tuple, self._epoch, self._open = self.knobs.default_tuple(), 0, True
        self._latency, self._running = Histogram(), set[object]()
        self._state, self._contended = Lock(), Lock()
        self._executor = ThreadPoolExecutor(self._tuple.pool_size)
        self._clients = ThreadPoolExecutor(CLIENTS)
        for _ in range(CLIENTS):
            self._clients.submit(self._send)

    def _send(self) -> None:
        while self._open:
            sent_s = time.monotonic()
            with self._state:
                answer = self._executor.submit(self._task)
            answer.result()
            with self._state:
                self._latency = self._latency.add(1e6 * (time.monotonic() - sent_s))

    def _task(self) -> None:
        self._running.add(task := object())
        time.sleep(REMOTE_S)
        with self._contended:
            time.sleep(CONTENTION_S * len(self._running))
        self._running.discard(task)

    def tuple_in_force(self) -> PoolTuple:
        return self._tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        self.knobs.check(pool_tuple)
        with self._state:
            before, self._executor = self._executor, ThreadPoolExecutor(pool_tuple.pool_size)
            self._tuple, self._epoch = pool_tuple, self._epoch + 1
        before.shutdown(wait=False)  # what it has taken in is still answered
        return pool_tuple

    def run_for(self, seconds: float) -> None:
        time.sleep(seconds)

    def snapshot(self) -> Snapshot:
        with self._state:
            gauges, latency = {"connections": CLIENTS}, {"latency_us/task": self._latency}
            return Snapshot(time.monotonic(), self._epoch, self._tuple, {}, gauges, latency, "other")

    def close(self) -> None:
        self._open = False
        self._clients.shutdown()
        self._executor.shutdown()

    def __exit__(self, *_: object) -> None:
        self.close()


def main() -> None:
    """Climbs the pool, then searches it."""
    objective = Objective(price_of_thread=0.0)
    with ExecutorServer() as server:
        start = server.tuple_in_force()
        climb = ClimbController(spectral_climber(ClimbSettings(), server.knobs), start, objective)
        space = SearchSpace.of(server.knobs, ["pool_size"], None, start)
        search = RandomSearch(space, objective, SearchSettings(rounds=12))
        for name, controller in ("climb ", climb), ("search", search):
            server.apply(start)
            trace = tune(server, controller, objective, period_s=0.2, horizon_s=6.0)
            shown = [f"{step.pool_tuple.pool_size:2} workers, {step.goodput_per_s:4.0f}/s" for step in trace.steps]
            print(f"{name}: {shown[0]} -> {shown[-1]}")


if __name__ == "__main__":
    main()
