"""What a family of live workloads is: a named distribution, and the split that all its workloads belong to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from poolpilot.native_pool.workload import RequestClass

Split = Literal["train", "validation", "test"]
Classes = tuple[tuple[RequestClass, ...], dict[str, float]]
Draw = Callable[[np.random.Generator, "Scale"], Classes]


@dataclass(frozen=True, slots=True)
class Scale:
    """Who sends and who serves: what a family needs to place its load between idle and saturated."""

    connections: int
    cpus: int

    def think_ms(self, cpu_us: float, utilisation: float) -> float:
        """Mean pause in milliseconds with which requests of `cpu_us` use that share of the processors.

        Closed loop: connections / pause is the rate, rate * processor time / processors the utilisation.
        """
        return self.connections * cpu_us / 1000 / (self.cpus * utilisation)


@dataclass(frozen=True, slots=True)
class Family:
    """A named distribution of workloads.

    Attributes:
        name: Name in records and tables.
        split: The split all its workloads belong to.
        nature: What bounds it, for the choice of the demonstration: CPU, silent waits, latches or other.
        description: One sentence for people.
        draw: Draws the classes and the parameters to record.
    """

    name: str
    split: Split
    nature: Literal["cpu", "silent", "latch", "other"]
    description: str
    draw: Draw
