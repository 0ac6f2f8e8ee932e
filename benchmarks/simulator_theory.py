"""The simulator's stations against queueing theory: five models, replicated, with 95 % intervals.

How to run: `python benchmarks/simulator_theory.py [--services 2000000] [--replications 10] [--json PATH]`.
Results to expect: every mean within 1 % of its formula, and the interval contains it 19 times of 20.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from poolpilot.env.output import write_json
from poolpilot.native_pool import QueueRule, QueueSpec
from poolpilot.native_pool._core import SimulatedNetwork, SimulatedStation

Counted = dict[str, Any]

PRIORITIES = {
    "discipline": "priority",
    "queues": [QueueSpec(), QueueSpec()],
    "rules": [QueueRule(class_id=0, queue=0), QueueRule(class_id=1, queue=1)],
}
"""The first class before the second."""


@dataclass(frozen=True)
class Model:
    """A textbook model.

    Attributes:
        name: Its name.
        source: Where the formula is from.
        network: Makes the simulation for a seed.
        measured: What is compared, from the counts.
        theory: The same from the formula.
    """

    name: str
    source: str
    network: Callable[[int], SimulatedNetwork]
    measured: Callable[[Counted], float]
    theory: float


def mean_stay_s(counted: Counted, station: int = 0, class_id: int = 0) -> float:
    """Mean time from entering a station to leaving it."""
    one = counted["stations"][station]
    return float(one["class_stay_s"][class_id] / one["class_visits"][class_id])


def erlang_c(channels: int, load: float) -> float:
    """Probability that an arrival finds all channels busy (Erlang, 1917)."""
    terms = np.cumprod([1.0, *(load / k for k in range(1, channels))])
    last = float(terms[-1]) * load / channels / (1.0 - load / channels)
    return last / (float(terms.sum()) + last)


def mva_rate(demands_s: Sequence[float], population: int) -> float:
    """Throughput of a closed product-form network by mean value analysis (Reiser and Lavenberg, 1980)."""
    queues, rate = np.zeros(len(demands_s)), 0.0
    for customers in range(1, population + 1):
        stays = np.array(demands_s) * (1.0 + queues)
        rate = customers / float(stays.sum())
        queues = rate * stays
    return rate


def repair_utilisation(machines: int, think: float) -> float:
    """Share of time a repairer is busy: the birth and death process of the shop (Palm, 1947)."""
    terms = np.cumprod([1.0, *((machines - k + 1) / think for k in range(1, machines + 1))])
    return 1.0 - 1.0 / float(terms.sum())


def open_station(seed: int, rates: Sequence[float], **station: Any) -> SimulatedNetwork:
    """A network of one station with Poisson arrivals and a mean service of one second."""
    only = SimulatedStation(mean_s=[1.0] * len(rates), **station)
    return SimulatedNetwork(stations=[only], rate_per_s=list(rates), seed=seed)


def repair_shop(seed: int, machines: int, think: float) -> SimulatedNetwork:
    """Machines that break after a while and wait for one repairer."""
    stations = [
        SimulatedStation(mean_s=[1.0], next=[0.0, 1.0]),
        SimulatedStation(service="delay", mean_s=[think]),
    ]
    return SimulatedNetwork(stations=stations, population=[machines], seed=seed)


def central_server(seed: int, population: int) -> SimulatedNetwork:
    """A processor and two disks; half of the visits go to the first, two fifths to the second."""
    stations = [
        SimulatedStation(service="sharing", mean_s=[0.01], next=[0.0, 0.5, 0.4]),
        SimulatedStation(mean_s=[0.015]),
        SimulatedStation(mean_s=[0.03]),
    ]
    return SimulatedNetwork(stations=stations, population=[population], seed=seed)


def models() -> list[Model]:
    """The five models of the table."""
    channels, rate = 4, 3.2
    erlang = Model(
        f"M/M/{channels} at {rate / channels}",
        "Erlang 1917",
        lambda seed: open_station(seed, [rate], channels=channels),
        mean_stay_s,
        1.0 + erlang_c(channels, rate) / (channels - rate),
    )
    sharing = [
        Model(
            f"M/G/1-PS at 0.7, variation {variation}",
            "Kleinrock 1976",
            partial(open_station, rates=[0.7], service="sharing", variation=variation),
            mean_stay_s,
            1.0 / (1.0 - 0.7),
        )
        for variation in (0.3, 1.0, 2.0)
    ]
    return [erlang, *sharing, *prioritised(0.3, 0.5), *closed()]


def prioritised(urgent: float, patient: float) -> list[Model]:
    """Two classes, of which one goes first, at these loads."""
    residual = urgent + patient
    return [
        Model(
            "M/M/1, two priorities: urgent",
            "Cobham 1954",
            lambda seed: open_station(seed, [urgent, patient], **PRIORITIES),
            mean_stay_s,
            1.0 + residual / (1.0 - urgent),
        ),
        Model(
            "M/M/1, two priorities: patient",
            "Cobham 1954",
            lambda seed: open_station(seed, [urgent, patient], **PRIORITIES),
            lambda counted: mean_stay_s(counted, class_id=1),
            1.0 + residual / ((1.0 - urgent) * (1.0 - urgent - patient)),
        ),
    ]


def closed() -> list[Model]:
    """Networks of a fixed number of customers."""
    return [
        Model(
            "machine repair, 10 machines",
            "Palm 1947",
            lambda seed: repair_shop(seed, 10, 5.0),
            lambda counted: float(counted["stations"][0]["busy_s"] / counted["seconds"]),
            repair_utilisation(10, 5.0),
        ),
        Model(
            "processor and two disks, 8 customers",
            "mean value analysis",
            lambda seed: central_server(seed, 8),
            lambda counted: float(counted["stations"][0]["visits"] / counted["seconds"]),
            mva_rate([0.01, 0.5 * 0.015, 0.4 * 0.03], 8),
        ),
    ]


def compared(model: Model, services: int, replications: int) -> dict[str, Any]:
    """The mean of independent replications, each warmed up for a tenth of its length, with its interval."""
    values = []
    for seed in range(replications):
        network = model.network(seed)
        network.run(services // 10)
        values.append(model.measured(network.run(services)))
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, replications - 1) * np.std(values, ddof=1) / np.sqrt(replications))
    return {
        "model": model.name,
        "source": model.source,
        "theory": model.theory,
        "simulated": mean,
        "error": mean / model.theory - 1.0,
        "half_interval": half / model.theory,
    }


def main() -> None:
    """Prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", type=int, default=2_000_000)
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [compared(model, arguments.services, arguments.replications) for model in models()]
    for row in rows:
        print(
            f"{row['model']:40} theory {row['theory']:9.5f}  simulated {row['simulated']:9.5f}  "
            f"error {100 * row['error']:+.2f} % (interval +-{100 * row['half_interval']:.2f} %)"
        )
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
