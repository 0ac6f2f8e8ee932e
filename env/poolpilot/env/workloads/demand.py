"""What a mix of requests asks of processors, disks, latches and a pool: how much of these a connection keeps busy."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step

Latch = tuple[int, int]
"""Number and spread of a latch."""

PROCESSORS, DISKS, GROUPS = "processors", "disks", "groups"


@dataclass(frozen=True, slots=True)
class Demand:
    """A mix of requests on a machine.

    Attributes:
        classes: The classes, each with its share of the connections.
        machine: What the pool's own work, a disk and a flush cost.
        cpus: Processors.
        groups: Thread groups, of which each has one active thread while none of its waits is told; None for as many as
            are of use.
    """

    classes: Sequence[RequestClass]
    machine: Machine
    cpus: int
    groups: int | None = None

    def alone_ms(self) -> float:
        """What a request takes where it waits for nobody, the mean over the connections."""
        total = sum(one.share for one in self.classes)
        return sum(one.share / total * self._alone_us(one) for one in self.classes) / 1e3

    def busy_share(self, think_ms: float) -> float:
        """Share of the busiest of all these that one connection with such pauses keeps busy."""
        total, busy = sum(one.share for one in self.classes), defaultdict[object, float](float)
        for one in self.classes:
            rate_per_us = one.share / total / (self._alone_us(one) + think_ms * 1e3)
            for station, used_us in self._used_us(one).items():
                busy[station] += rate_per_us * used_us
        return max(busy.values())

    def _alone_us(self, one: RequestClass) -> float:
        commits = sum(step.op == "commit" for step in one.steps)
        return self._own_us + sum(step.us for step in one.steps) + commits * self.machine.flush_us

    @property
    def _own_us(self) -> float:
        """Processor time of the pool itself for a request."""
        return self.machine.overhead_us + self.machine.wake_cost_us

    def _used_us(self, one: RequestClass) -> Mapping[object, float]:
        """How long a request keeps one of each station's servers busy, over how many of them there are."""
        cpu_us = self._own_us + sum(step.us for step in one.steps if step.op == "cpu")
        used: dict[object, float] = {PROCESSORS: cpu_us / self.cpus}
        if self.machine.disks:
            waits_us = sum(step.us for step in one.steps if step.op == "wait" and step.kind == "disk_io")
            used[DISKS] = waits_us / (self.machine.disks * self.machine.disk_channels)
        if self.groups is not None:
            untold_us = sum(step.us for step in one.steps if step.op == "wait" and not step.reported)
            used[GROUPS] = (cpu_us + untold_us) / self.groups
        held = held_us(one.steps, self.machine.flush_us)
        return used | {latch: us / latch[1] for latch, us in held.items()}


def held_us(steps: Sequence[Step], flush_us: float = 0.0) -> Mapping[Latch, float]:
    """Microseconds that a request holds each latch; a row lock, which nothing releases, is held until the commit."""
    held, taken = defaultdict[Latch, float](float), list[Latch]()
    for step in steps:
        if step.op == "acquire":
            taken.append((step.latch, step.spread))
        elif step.op == "release":
            taken = [latch for latch in taken if latch[0] != step.latch]
        for latch in taken:
            held[latch] += step.us + (flush_us if step.op == "commit" else 0.0)
        if step.op == "commit":
            taken = []
    return held
