"""The simulated pool: the live server's state machine and step programs on a modelled machine, in virtual time."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from poolpilot.native_pool._core import SimulatedLoad, SimulatedLoadChange, SimulatedMachine, SimulatedPool
from poolpilot.native_pool.load_process import SEED_MASK, native_class
from poolpilot.native_pool.setting_field import setting_field
from poolpilot.native_pool.workload import Workload

_ROWS = {row["name"]: row for row in SimulatedMachine.fields()}


class Machine(BaseModel):
    """A modelled machine, and what the pool's own work costs on it. `docs/simulator.md` explains the model.

    Defaults, ranges and meanings are the simulator's own; the processors are those of the workload.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    law: Literal["cost", "seed", "slices"] = setting_field(_ROWS["law"])
    switch_us: float = setting_field(_ROWS["switch_us"])
    quantum_us: float = setting_field(_ROWS["quantum_us"])
    credit_us: float = setting_field(_ROWS["credit_us"])
    cache_loss: float = setting_field(_ROWS["cache_loss"])
    seed_loss: float = setting_field(_ROWS["seed_loss"])
    overhead_us: float = setting_field(_ROWS["overhead_us"])
    wake_us: float = setting_field(_ROWS["wake_us"])
    wake_cost_us: float = setting_field(_ROWS["wake_cost_us"])
    create_us: float = setting_field(_ROWS["create_us"])
    peek_us: float = setting_field(_ROWS["peek_us"])
    piece_us: float = setting_field(_ROWS["piece_us"])
    timer_slack_us: float = setting_field(_ROWS["timer_slack_us"])
    client_us: float = setting_field(_ROWS["client_us"])
    client_shares: bool = setting_field(_ROWS["client_shares"])
    waiter_growth: float = setting_field(_ROWS["waiter_growth"])
    disks: int = setting_field(_ROWS["disks"])
    disk_channels: int = setting_field(_ROWS["disk_channels"])
    flush_us: float = setting_field(_ROWS["flush_us"])
    flush_reported: bool = setting_field(_ROWS["flush_reported"])


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
"""Fitted by `poolpilot learn calibrate` to the recorded workloads of the live pool on two processors."""


RAMP_S = 0.2
"""Virtual seconds over which the first requests of a closed loop are spread: sent at once, they would march in step."""


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
    workload: Workload,
    machine: Machine | None = None,
    changes: Sequence[LoadChange] = (),
    *,
    backlog_limit: int | None = None,
    **options: Any,
) -> SimulatedPool:
    """A pool in virtual time under a workload; `workload.cpus` are the processors of the machine.

    Args:
        workload: What is sent.
        machine: The machine; a fast one with default costs if None.
        changes: Changes of the load, in order of time.
        backlog_limit: Arrivals of an open loop that may wait for a connection; the default of `LoadSettings` if None.
        **options: The tuple and start-up options of `_core.SimulatedPool`, which are those of the live pool.

    Raises:
        ValueError: Something is outside its range; the text names it.
    """
    load = SimulatedLoad(
        classes=[native_class(one) for one in workload.classes],
        connections=workload.connections,
        rate_per_s=workload.rate_per_s,
        seed=workload.seed & SEED_MASK,
        ramp_s=RAMP_S,
        changes=[SimulatedLoadChange(**asdict(one)) for one in changes],
        **({} if backlog_limit is None else {"backlog_limit": backlog_limit}),
    )
    native = SimulatedMachine(cpus=workload.cpus, **(machine or Machine()).model_dump())
    return SimulatedPool(machine=native, load=load, **options)
