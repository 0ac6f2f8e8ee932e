"""The simulated pool: the live server's state machine and step programs on a modelled machine, in virtual time."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.native_pool._core import SimulatedLoad, SimulatedLoadChange, SimulatedMachine, SimulatedPool
from poolpilot.native_pool.load_process import SEED_MASK, native_class
from poolpilot.native_pool.workload import Workload


class Machine(BaseModel):
    """A modelled machine, and what the pool's own work costs on it. `docs/simulator.md` explains the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    law: Literal["cost", "seed", "slices"] = Field(
        default="cost",
        description="How processors are shared: evenly at the cost of switches and cold caches, evenly by the seed's "
        "law, or in slices.",
    )
    switch_us: float = Field(default=0.0, ge=0.0, le=1e6, description="Processor time lost at a switch.")
    quantum_us: float = Field(default=3000.0, ge=1.0, le=1e7, description="How long a thread runs before the next.")
    credit_us: float = Field(
        default=4000.0, ge=0.0, le=1e7, description="Slices: how far a woken thread may be behind the others."
    )
    cache_loss: float = Field(
        default=0.0, ge=0.0, le=100.0, description="Slow-down far beyond the processors, as a share of the work."
    )
    seed_loss: float = Field(default=0.0, ge=0.0, le=1.0, description="`a` of the seed's law: progress M/N - a.")
    overhead_us: float = Field(
        default=10.0, ge=0.1, le=1e9, description="Processor time of a request outside its program."
    )
    wake_us: float = Field(default=5.0, ge=0.0, le=1e9, description="From waking a thread until it runs.")
    wake_cost_us: float = Field(default=2.0, ge=0.0, le=1e9, description="Processor time a woken thread pays.")
    create_us: float = Field(default=50.0, ge=0.0, le=1e9, description="From asking for a thread until it runs.")
    piece_us: float = Field(
        default=0.0, ge=0.0, le=1e9, description="Work is done in pieces of this processor time; 0: to the point."
    )
    timer_slack_us: float = Field(
        default=0.0, ge=0.0, le=1e9, description="A wait lasts so much longer than its program says."
    )
    client_us: float = Field(
        default=0.0, ge=0.0, le=1e9, description="Time the load generator, one thread, needs for a request."
    )
    client_shares: bool = Field(
        default=False, description="Whether the load generator runs on these processors, or on others."
    )
    waiter_growth: float = Field(
        default=0.0,
        ge=0.0,
        le=1e6,
        description="A latch's waiter costs its holder so much more for each waiter a processor: lines that migrate.",
    )
    disks: int = Field(
        default=0, ge=0, le=1024, description="Disks that disk waits queue at; 0 lets them all wait at once."
    )
    disk_channels: int = Field(default=1, ge=1, le=1024, description="Waits that a disk serves at once.")
    flush_us: float = Field(
        default=0.0, ge=0.0, le=1e9, description="Flush that a commit waits for, one for all that wait; 0: none."
    )
    flush_reported: bool = Field(default=True, description="Whether the pool is told of that wait.")


CALIBRATED = Machine(
    law="slices",
    switch_us=2.0,
    quantum_us=1900.0,
    overhead_us=10.6,
    wake_us=45.0,
    wake_cost_us=3.3,
    piece_us=12.1,
    timer_slack_us=85.0,
    client_us=7.5,
)
"""Fitted by `poolpilot calibrate` to the recorded workloads of the live pool on two processors."""


@dataclass(frozen=True, slots=True)
class LoadChange:
    """A change of the load while it runs; what is None or empty stays as it was.

    Attributes:
        at_s: Virtual time at which it takes effect.
        rate_per_s: Arrivals a second of an open loop.
        connections: Connections of a closed loop that send; the others stay connected and silent.
        think_factor: Pauses of a closed loop are this many times as long as the classes say.
        shares: The mix from then on, one share for each class.
    """

    at_s: float
    rate_per_s: float | None = None
    connections: int | None = None
    think_factor: float | None = None
    shares: tuple[float, ...] = ()


def simulated_pool(
    workload: Workload, machine: Machine | None = None, changes: Sequence[LoadChange] = (), **options: Any
) -> SimulatedPool:
    """A pool in virtual time under a workload; `workload.cpus` are the processors of the machine.

    Args:
        workload: What is sent.
        machine: The machine; a fast one with default costs if None.
        changes: Changes of the load, in order of time.
        **options: The tuple and start-up options of `_core.SimulatedPool`, which are those of the live pool.

    Raises:
        ValueError: Something is outside its range; the text names it.
    """
    load = SimulatedLoad(
        classes=[native_class(one) for one in workload.classes],
        connections=workload.connections,
        rate_per_s=workload.rate_per_s,
        seed=workload.seed & SEED_MASK,
        changes=[SimulatedLoadChange(**asdict(one)) for one in changes],
    )
    native = SimulatedMachine(cpus=workload.cpus, **(machine or Machine()).model_dump())
    return SimulatedPool(machine=native, load=load, **options)
