"""The benchmark's models in SimPy, as its manual would write them: what the simulator's speed is compared with."""

import random
from collections.abc import Generator
from typing import Any

import simpy

from poolpilot.native_pool.workload import Workload

Process = Generator[simpy.Event, Any, None]


def run_mmc(channels: int, rate_per_s: float, services: int, seed: int) -> int:
    """M/M/c with a mean service of one second; returns the events (arrivals and departures) it simulated."""
    world, source = simpy.Environment(), random.Random(seed)
    station = simpy.Resource(world, capacity=channels)
    served = 0
    done = world.event()

    def customer() -> Process:
        nonlocal served
        with station.request() as turn:
            yield turn
            yield world.timeout(source.expovariate(1.0))
        served += 1
        if served == services:
            done.succeed()

    def arrivals() -> Process:
        while True:
            yield world.timeout(source.expovariate(rate_per_s))
            world.process(customer())

    world.process(arrivals())
    world.run(until=done)
    return 2 * services


def run_pool(workload: Workload, groups: int, requests: int) -> None:
    """The closed loop of a workload's first class on a pool of groups that work one request at a time.

    It is simpler than the simulator's model (no listener, no stalls, no thread creation, processors first come first
    served), which is to SimPy's advantage.
    """
    world, source = simpy.Environment(), random.Random(workload.seed)
    workers = [simpy.Resource(world, capacity=1) for _ in range(groups)]
    processors = simpy.Resource(world, capacity=workload.cpus)
    steps, think_s = workload.classes[0].steps, workload.classes[0].think_ms / 1e3
    answered = 0
    done = world.event()

    def connection(number: int) -> Process:
        nonlocal answered
        while True:
            if think_s > 0.0:
                yield world.timeout(source.expovariate(1.0 / think_s))
            with workers[number % groups].request() as worker:
                yield worker
                for step in steps:
                    if step.op == "cpu":
                        with processors.request() as processor:
                            yield processor
                            yield world.timeout(source.expovariate(1e6 / step.us))
                    else:
                        yield world.timeout(source.expovariate(1e6 / step.us))
            answered += 1
            if answered == requests:
                done.succeed()

    for number in range(workload.connections):
        world.process(connection(number))
    world.run(until=done)
