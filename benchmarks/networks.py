"""QGym's networks on our engine: our disciplines beside the costs that QGym publishes for c-mu, MaxWeight and PPO.

How to run: `python benchmarks/networks.py [--events 4000000] [--json PATH]` (virtual time: minutes, the same numbers
every time). Every run is as long as those of QGym and begins with an empty network. Results to expect: what QGym
publishes for c-mu and MaxWeight, which with exponential service is the cost of one run, lies among single runs here;
MaxWeight whose weights and power a random search chose on other runs costs no more than QGym's best PPO on the re-
entrant networks, and more on criss-cross.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from poolpilot.env.output import write_json
from poolpilot.native_pool import QueueRule, QueueSpec
from qgym import NETWORKS, UNIT_S, PublishedNetwork, Station

SEARCH_SEED, SEARCH_DRAWS, SEARCH_EVENTS = 1, 200, 400_000
FIRST_SEARCH_RUN = 1_000_000
"""Seeds of the search; those that judge come before."""

Policy = Sequence[Station]
"""The discipline of each server."""


def claims(network: PublishedNetwork, weights: Sequence[float], queue_power: float) -> Policy:
    """Preemptive service by weight times a power of the number of customers."""
    station = {"service": "preemptive", "weights": list(weights), "queue_power": queue_power}
    return [station for _ in set(network.places)]


def members(network: PublishedNetwork, server: int) -> list[int]:
    """Classes of a server, that which c-mu prefers first."""
    here = [i for i, place in enumerate(network.places) if place == server]
    return sorted(here, key=lambda i: -network.service_rates[i])


def by_class(network: PublishedNetwork, discipline: str, **options: Any) -> Policy:
    """A discipline with a queue for each class: priorities as c-mu, shares as the load, urgency as the mean service."""

    def station(server: int) -> dict[str, Any]:
        here = members(network, server)
        total = sum(network.load(i) for i in here)
        return {
            "discipline": discipline,
            "queues": [queue(network, discipline, i, network.load(i) / total) for i in here],
            "rules": [QueueRule(class_id=class_id, queue=place) for place, class_id in enumerate(here)],
            **options,
        }

    return [station(server) for server in sorted(set(network.places))]


URGENCY_SERVICES, DEADLINE_SERVICES = 10.0, 100.0


def queue(network: PublishedNetwork, discipline: str, class_id: int, share: float) -> QueueSpec:
    """The queue of a class under a discipline."""
    service_ms = UNIT_S * 1e3 / network.service_rates[class_id]
    match discipline:
        case "dynamic":
            return QueueSpec(urgency_ms=URGENCY_SERVICES * service_ms)
        case "impatient":
            return QueueSpec(deadline_ms=DEADLINE_SERVICES * service_ms)
        case "priority" | "alternating" | "israeli":
            return QueueSpec()
        case _:
            return QueueSpec(weight=share)


def policies(network: PublishedNetwork) -> dict[str, Policy]:
    """Those of QGym's that go by what a server sees, and ours."""
    c_mu = network.service_rates
    servers = set(network.places)
    return {
        "c-mu": claims(network, c_mu, 0.0),
        "MaxWeight": claims(network, c_mu, 1.0),
        "longest queue": claims(network, [1.0] * network.classes, 1.0),
        "processor sharing": [{"service": "sharing"} for _ in servers],
        "fifo": [{} for _ in servers],
        "priority": by_class(network, "priority"),
        "weighted": by_class(network, "weighted"),
        "cbwfq": by_class(network, "cbwfq", share_of="time"),
        "cbwfq_llq": by_class(network, "cbwfq_llq", share_of="time"),
        "impatient": by_class(network, "impatient"),
        "alternating": by_class(network, "alternating"),
        "dynamic": by_class(network, "dynamic"),
        "weighted_round_robin": by_class(network, "weighted_round_robin"),
        "deficit_round_robin": by_class(network, "deficit_round_robin"),
        "israeli": by_class(network, "israeli"),
    }


def costs(network: PublishedNetwork, policy: Policy, seeds: Sequence[int]) -> NDArray[np.float64]:
    """The cost of each run."""
    return np.array([network.cost(policy, seed) for seed in seeds])


def searched(network: PublishedNetwork) -> Policy:
    """MaxWeight with the weights and the power that cost least in runs which judge nothing; random search."""
    rng = np.random.default_rng(SEARCH_SEED)
    seeds = range(FIRST_SEARCH_RUN, FIRST_SEARCH_RUN + SEARCH_EVENTS // network.events)
    best, least = claims(network, network.service_rates, 1.0), np.inf
    for _ in range(SEARCH_DRAWS):
        factors = np.exp(rng.uniform(-np.log(8.0), np.log(8.0), network.classes))
        weights = [float(rate * factor) for rate, factor in zip(network.service_rates, factors, strict=True)]
        policy = claims(network, weights, float(rng.uniform(0.0, 2.0)))
        cost = float(costs(network, policy, seeds).mean())
        if cost < least:
            best, least = policy, cost
    return best


def judged(values: NDArray[np.float64]) -> dict[str, float]:
    """The mean of runs with the 95 % interval of the mean, and the range that holds 95 % of single runs."""
    half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    low, high = np.percentile(values, [2.5, 97.5])
    return {"mean": float(values.mean()), "half_interval": half, "run_low": float(low), "run_high": float(high)}


def compared(network: PublishedNetwork, events: int) -> dict[str, Any]:
    """All policies, each in runs of so many events together; of QGym's the share of runs that cost more than there."""
    runs = events // network.events
    chosen = searched(network)
    rows: dict[str, dict[str, float]] = {}
    for name, policy in {**policies(network), "MaxWeight, searched": chosen}.items():
        values = costs(network, policy, range(runs))
        rows[name] = judged(values)
        if name in network.published:
            rows[name]["share_above"] = float((values > network.published[name][0]).mean())
        print(f"{network.name:32} {name:22} {rows[name]['mean']:9.2f} +-{rows[name]['half_interval']:.2f}", flush=True)
    return {
        "network": network.name,
        "events": network.events,
        "runs": runs,
        "ours": rows,
        "published": {name: {"cost": cost, "plus_minus": error} for name, (cost, error) in network.published.items()},
        "searched": {"weights": chosen[0]["weights"], "queue_power": chosen[0]["queue_power"]},
    }


def main() -> None:
    """Prints the costs and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report = [compared(network, arguments.events) for network in NETWORKS]
    write_json(arguments.json, report)


if __name__ == "__main__":
    main()
