"""Queues of Wang (book) in the simulated pool: one queue over a network, latches that collapse and couple, the knee.

How to run: `python benchmarks/queueing_seed.py [--seeds 5] [--json PATH]` (virtual time: some minutes, the same numbers
every time). After Wang (book; docs/references.md), sections 4.6.1 to 4.6.4.

Results to expect: over a network of 10 ms that one transaction crosses at a time, 100 transactions a second whatever
the concurrency. Latches alone pass as many as the book says, because hold and price of a waiter are fitted to these
numbers; together they show what is not fitted. At 100 threads a hiccup of the second and third latch heals, and so it
does at 500 as long as the first is the bottleneck; once that is repaired, they stay collapsed at 25 and 30 a second.
Where everybody goes on to one of the two, the repair of the first lowers the total. Response time bends near 60 % of
the processors where these are few.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import LoadChange, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from simulator_theory import erlang_c

ALL_AT_S, SETTLED_S = 60.0, 20.0
MAX_POOL_SIZE = 1024

NETWORK_MS = 10.0
NEW_ORDERS = 0.45
"""The book's share of all TPC-C transactions that tpmC counts."""

NUMA = Machine(overhead_us=1.0, waiter_growth=3.0)
NUMA_CORES = 72

DAY_MS = 86.4e6

KNEE_SHARES = (*(share / 100 for share in range(10, 96, 2)), 0.96)
WORST_MS = 13.0
KNEE_CORES = (2, 4, 8)


@dataclass(frozen=True)
class LatchCost:
    """What a latch costs its holder.

    Attributes:
        hold_us: Mean processor time under it.
        waiter_us: Processor time for each thread that waits.
    """

    hold_us: float
    waiter_us: float


FIRST, REPAIRED = LatchCost(276.0, 0.4357), LatchCost(276.0, 0.0668)
SECOND, THIRD = LatchCost(400.0, 275.0), LatchCost(933.0, 225.0)
"""Each fitted to what the book says of it alone: at 100 and 500 threads the first, at 10 and 50 the others."""


@dataclass(frozen=True)
class Clients:
    """How many send each class of requests: through the first latch alone, or through the second or third too."""

    first_alone: int
    second: int
    third: int


def passing(number: int, cost: LatchCost) -> tuple[Step, ...]:
    """One latch taken and released."""
    acquire = Step("acquire", latch=number, spin_us=30, waiter_cost_us=cost.waiter_us)
    return (acquire, Step("cpu", us=cost.hold_us, variation=0.5), Step("release", latch=number))


def begun(workload: Workload, machine: Machine) -> SimulatedServer:
    """A pool with a group for every connection, at the moment when all of them begin to send.

    Until then one has sent and all threads are there. Nothing but a release ends the wait for a latch.
    """
    changes = (LoadChange(at_s=0.0, connections=1), LoadChange(at_s=ALL_AT_S, connections=workload.connections))
    initial = PoolTuple(workload.connections, 1, 500)
    server = SimulatedServer(
        workload, machine, changes=changes, initial=initial, max_pool_size=MAX_POOL_SIZE, latch_timeout_s=0.0
    )
    server.run_for(ALL_AT_S)
    return server


def rates_per_s(workload: Workload, machine: Machine, seconds: float) -> dict[str, float]:
    """Answers a second of each class once the pool has settled."""
    server = begun(workload, machine)
    server.run_for(SETTLED_S)
    before = server.snapshot().histograms
    server.run_for(seconds)
    after = server.snapshot().histograms
    names = [one.name for one in workload.classes]
    return {name: (after[f"latency_us/{name}"] - before[f"latency_us/{name}"]).count / seconds for name in names}


def latch_per_s(seed: int, cost: LatchCost, threads: int) -> dict[str, float]:
    """Passes a second of one latch that so many threads want."""
    classes = (RequestClass("passes", passing(0, cost)),)
    workload = Workload("latch", "seed", classes, connections=threads, cpus=NUMA_CORES, seed=seed)
    return rates_per_s(workload, NUMA, 20.0)


def hiccup(latch: int, seconds: float) -> RequestClass:
    """One client that holds a latch for a while at the beginning and sends no more."""
    steps = (Step("acquire", latch=latch), Step("wait", us=1e6 * seconds), Step("release", latch=latch))
    return RequestClass(f"hiccup of {latch}", steps, think_ms=DAY_MS)


def coupled_per_s(seed: int, first: LatchCost, clients: Clients, hiccup_s: float) -> dict[str, float]:
    """Requests a second through the first latch alone, and through it and the second or the third.

    Args:
        seed: Seed of the load.
        first: The first latch.
        clients: How many there are of each class, each with a thread of its own.
        hiccup_s: How long somebody holds the second and the third latch when they begin, so that clients pile up there.
    """
    start = passing(0, first)
    of_class = {
        RequestClass("first alone", start): clients.first_alone,
        RequestClass("second", (*start, *passing(1, SECOND))): clients.second,
        RequestClass("third", (*start, *passing(2, THIRD))): clients.third,
    }
    if hiccup_s > 0.0:
        of_class |= {hiccup(latch, hiccup_s): 1 for latch in (1, 2)}
    total = sum(of_class.values())
    classes = tuple(replace(one, share=count / total) for one, count in of_class.items() if count > 0)
    workload = Workload("latches", "seed", classes, connections=total, cpus=NUMA_CORES, seed=seed)
    rates = rates_per_s(workload, NUMA, 40.0)
    passed: dict[str, float] = {name: rates[name] for name in ("first alone", "second", "third") if name in rates}
    return {**passed, "total": sum(passed.values())}


def replicated_per_s(seed: int, connections: int) -> dict[str, float]:
    """Transactions a second whose commit crosses the network one at a time, and their mean latency."""
    commit = (
        Step("acquire"),
        Step("wait", us=NETWORK_MS * 1e3, variation=0.05, kind="net", reported=True),
        Step("release"),
    )
    classes = (RequestClass("all", (Step("cpu", us=300.0, variation=0.5), *commit)),)
    workload = Workload("replicated", "seed", classes, connections=connections, cpus=8, seed=seed)
    rate = rates_per_s(workload, Machine(), 200.0)["all"]
    return {"rate": rate, "tpm_c": 60.0 * NEW_ORDERS * rate, "latency_ms": 1e3 * connections / rate}


def response_ms(seed: int, cores: int, utilisation: float) -> float:
    """Mean response of an open loop of processor work whose length makes it 13 ms at 96 % by Erlang's formula."""
    worst = KNEE_SHARES[-1]
    cpu_us = 1e3 * WORST_MS / (1.0 + erlang_c(cores, worst * cores) / (cores * (1.0 - worst)))
    rate_per_s = utilisation * cores * 1e6 / cpu_us
    classes = (RequestClass("all", (Step("cpu", us=cpu_us, variation=1.0),)),)
    workload = Workload("open", "seed", classes, 2000, rate_per_s=rate_per_s, cpus=cores, seed=seed)
    initial = PoolTuple(256, 3, 10)
    server = SimulatedServer(workload, Machine(overhead_us=1.0), initial=initial, max_pool_size=MAX_POOL_SIZE)
    server.run_for(2.0)
    before = server.snapshot().histograms["latency_us/all"]
    server.run_requests(300_000)
    return (server.snapshot().histograms["latency_us/all"] - before).mean / 1e3


def knee(points: dict[float, float]) -> float:
    """The utilisation that a unit of response time buys most of (Millsap, "Thinking Clearly about Performance")."""
    return min(points, key=lambda share: points[share] / share)


def response_curve(seed: int, cores: int) -> dict[str, float]:
    """Knee and worst response, with some of the curve between."""
    points = {share: response_ms(seed, cores, share) for share in KNEE_SHARES}
    return {
        "knee": knee(points),
        "worst_ms": points[KNEE_SHARES[-1]],
        **{f"at {share:.0%}": points[share] for share in (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9)},
    }


def interval(values: Sequence[float]) -> dict[str, float]:
    """Mean and 95 % interval."""
    mean, error = float(np.mean(values)), float(stats.sem(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    return {"mean": mean, "low": mean - half, "high": mean + half}


def over_seeds(measure: Callable[[int], dict[str, float]], seeds: int) -> dict[str, dict[str, float]]:
    """Every value of a measure with its interval."""
    measured = [measure(seed) for seed in range(seeds)]
    return {name: interval([one[name] for one in measured]) for name in measured[0]}


ALONE = (
    ("first", FIRST, 100, 2000),
    ("first", FIRST, 500, 200),
    ("first, repaired", REPAIRED, 500, 1000),
    ("second", SECOND, 10, 300),
    ("second", SECOND, 50, 25),
    ("third", THIRD, 10, 300),
    ("third", THIRD, 50, 30),
)
"""Latch, its cost, threads, and the passes a second that the book says."""


def latches(seeds: int) -> list[dict[str, Any]]:
    """Every latch alone beside the book."""
    return [
        {
            "latch": name,
            "threads": threads,
            "source": source,
            "cost": asdict(cost),
            "ours": over_seeds(partial(latch_per_s, cost=cost, threads=threads), seeds)["passes"],
        }
        for name, cost, threads, source in ALONE
    ]


TOGETHER = (
    ("as it was", FIRST, Clients(96, 12, 12), 1.0),
    ("as it was", FIRST, Clients(473, 62, 65), 1.0),
    ("repaired", REPAIRED, Clients(473, 62, 65), 1.0),
    ("repaired", REPAIRED, Clients(473, 62, 65), 0.0),
    ("as it was", FIRST, Clients(0, 250, 250), 0.1),
    ("repaired", REPAIRED, Clients(0, 250, 250), 0.1),
)
"""State of the first latch, its cost, clients, seconds of the hiccup.

With 473, 62 and 65 clients 500 are at the first latch and 50 at each of the others, as in the book, where these have
collapsed; 96, 12 and 12 are a fifth of them."""


def coupled(seeds: int) -> list[dict[str, Any]]:
    """The three latches together."""
    rows = []
    for name, cost, clients, hiccup_s in TOGETHER:
        measure = partial(coupled_per_s, first=cost, clients=clients, hiccup_s=hiccup_s)
        case = {"first": name, "clients": asdict(clients), "hiccup_s": hiccup_s}
        rows.append({**case, "passed_per_s": over_seeds(measure, seeds)})
    return rows


def network(seeds: int) -> dict[int, Any]:
    """One queue over the network, by connections."""
    return {one: over_seeds(partial(replicated_per_s, connections=one), seeds) for one in (50, 100, 150)}


def response(seeds: int) -> dict[int, Any]:
    """Response over utilisation, by processors."""
    return {cores: over_seeds(partial(response_curve, cores=cores), seeds) for cores in KNEE_CORES}


def main() -> None:
    """Prints everything as it goes and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"seeds": arguments.seeds}
    for measure in (network, latches, coupled, response):
        result[measure.__name__] = measure(arguments.seeds)
        print(f"{measure.__name__}: {json.dumps(result[measure.__name__], indent=1)}", flush=True)
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
