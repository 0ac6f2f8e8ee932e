"""QGym's criss-cross and re-entrant networks, and the costs that its authors publish for them.

Source: Chen, Li, Che, Peng, Dong and Namkoong, "QGym: Scalable Simulation and Benchmarking of Queuing Network
Controllers" (NeurIPS 2024); networks from `configs/env` and `configs/env_data` of its repository, costs from the tables
of its README. A unit of its time is a millisecond here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poolpilot.native_pool._core import SimulatedNetwork, SimulatedStation

UNIT_S = 1e-3
HYPER_SPREAD = 0.8
"""Half of QGym's hyperexponential services are exponential with 1.8 times the mean, half with 0.2 times."""

Station = Mapping[str, Any]
"""Keywords of a station besides its times."""


@dataclass(frozen=True)
class PublishedNetwork:
    """A multi-class network, where holding a customer of any class costs one for each unit of time.

    Attributes:
        name: Its name.
        rates: Arrivals of each class in a unit of time.
        service_rates: Services of each class in a unit of time.
        places: Server of each class.
        next_class: What each class becomes; None leaves.
        events: Arrivals and ends of services in a run, which begins empty; services of simulated streams that QGym has
            beside them, one arrival in a million units of time, are left out.
        published: Cost and what follows its plus-minus sign, by policy.
        spread: Of hyperexponential service; 0: exponential.
    """

    name: str
    rates: Sequence[float]
    service_rates: Sequence[float]
    places: Sequence[int]
    next_class: Sequence[int | None]
    events: int
    published: Mapping[str, tuple[float, float]]
    spread: float = 0.0

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.rates)

    def load(self, class_id: int) -> float:
        """Share of its server's time that a class needs, followed along its route."""
        flow = list(self.rates)
        for _ in self.rates:
            flow = [
                rate + sum(flow[j] for j, becomes in enumerate(self.next_class) if becomes == i)
                for i, rate in enumerate(self.rates)
            ]
        return flow[class_id] / self.service_rates[class_id]

    def simulation(self, stations: Sequence[Station], seed: int) -> SimulatedNetwork:
        """The network with servers of these disciplines.

        Raises:
            ValueError: A discipline is told what it cannot be.
        """
        made = [
            SimulatedStation(
                mean_s=[
                    UNIT_S / rate if place == number else 0.0
                    for rate, place in zip(self.service_rates, self.places, strict=True)
                ],
                spread=self.spread,
                **station,
            )
            for number, station in enumerate(stations)
        ]
        becomes = [[float(i == successor) for i in range(self.classes)] for successor in self.next_class]
        return SimulatedNetwork(
            stations=made,
            rate_per_s=[rate / UNIT_S for rate in self.rates],
            places=self.places,
            becomes=becomes,
            seed=seed,
        )

    def cost(self, stations: Sequence[Station], seed: int) -> float:
        """Holding cost a unit of time in one run, as QGym measures it."""
        counted = self.simulation(stations, seed).run(events=self.events)
        held_s = sum(sum(station["class_present_s"]) for station in counted["stations"])
        return float(held_s / counted["seconds"])


_REENTRANT_RATES = (1 / 8, 1 / 2, 1 / 4, 1 / 6, 1 / 7, 1.0)
_REENTRANT_PLACES = (0, 0, 0, 1, 1, 1)
_FLOW = 9 / 140
_FIRST: tuple[Sequence[float], Sequence[int | None]] = ((_FLOW, 0, _FLOW, 0, 0, 0), (3, 4, 5, 1, None, None))
_SECOND: tuple[Sequence[float], Sequence[int | None]] = ((_FLOW, 0, 0, 0, 0, 0), (3, 4, 5, 1, 2, None))


def _reentrant(
    name: str,
    route: tuple[Sequence[float], Sequence[int | None]],
    events: int,
    spread: float,
    published: Mapping[str, tuple[float, float]],
) -> PublishedNetwork:
    rates, next_class = route
    return PublishedNetwork(
        name, rates, _REENTRANT_RATES, _REENTRANT_PLACES, next_class, events, published, spread=spread
    )


NETWORKS = (
    PublishedNetwork(
        "criss-cross",
        rates=(0.9, 0, 0.9),
        service_rates=(2, 1, 2),
        places=(0, 1, 0),
        next_class=(1, None, None),
        events=10_000,
        published={
            "c-mu": (16.1, 0.0),
            "MaxWeight": (15.3, 0.0),
            "PPO": (8.6e3, 4.6),
            "PPO BC": (24.0, 0.2),
            "PPO WC": (15.4, 0.2),
        },
    ),
    _reentrant(
        "re-entrant 1, two servers",
        _FIRST,
        10_000,
        0.0,
        {
            "c-mu": (19.0, 0.0),
            "MaxWeight": (14.8, 0.0),
            "PPO": (1.8e3, 6.6),
            "PPO BC": (25.1, 0.6),
            "PPO WC": (13.6, 0.4),
        },
    ),
    _reentrant(
        "re-entrant 2, two servers",
        _SECOND,
        50_000,
        0.0,
        {
            "c-mu": (26.01, 0.0),
            "MaxWeight": (17.45, 0.0),
            "PPO": (9.04e3, 41.13),
            "PPO BC": (30.62, 0.37),
            "PPO WC": (13.72, 0.22),
        },
    ),
    _reentrant(
        "re-entrant 1, hyperexponential",
        _FIRST,
        50_000,
        HYPER_SPREAD,
        {
            "c-mu": (31.69, 1.3),
            "MaxWeight": (22.40, 1.2),
            "PPO": (9.9e3, 20.7),
            "PPO BC": (62.7, 1.3),
            "PPO WC": (29.9, 0.7),
        },
    ),
    _reentrant(
        "re-entrant 2, hyperexponential",
        _SECOND,
        50_000,
        HYPER_SPREAD,
        {
            "c-mu": (28.43, 1.37),
            "MaxWeight": (22.82, 1.89),
            "PPO": (9.75e3, 59.58),
            "PPO BC": (66.87, 1.11),
            "PPO WC": (30.67, 0.83),
        },
    ),
)
