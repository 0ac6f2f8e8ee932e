"""Families of simulated workloads with domain randomisation: machines, loads and programs nobody here has.

Beside them stand the twins of the live training families: the same programs, on machines near the calibrated one. Like
these, none composes a workload as a held-out family does. One family composes its workloads step by step at random.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads import families as live
from poolpilot.env.workloads.composed import draw_composed, draw_to_choose_by
from poolpilot.env.workloads.family import Family, Scale
from poolpilot.env.workloads.ingredients import cpu_step, log_uniform
from poolpilot.env.workloads.light_load import LightLoad
from poolpilot.native_pool.simulation import CALIBRATED, LoadChange, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CPUS = (1, 128)
CONNECTIONS = (1, 4096)
CYCLE_S = 1.0
"""A load that changes repeats itself after that time: calm and burst, one mix and the other."""

LONGEST_S = 120.0
"""Changes of the load are planned that far."""

COMPOSED = "sim_composed"
"""The family whose workloads are composed at random."""

LEAST_CPU_US_PER_CPU = 40.0
"""Where windows last whole cycles, processor time of a request for each processor: some 25,000 requests a cycle."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a family decides; the rest is drawn alike for all.

    Attributes:
        classes: The request classes.
        parameters: What was drawn, for the record.
        machine: Fields of `Machine` that the family needs.
        changes: Changes of the load.
        cycle_s: Seconds after which these repeat themselves; 0: they do not.
        rate_per_s: Arrivals of an open loop; None is a closed loop.
    """

    classes: tuple[RequestClass, ...]
    parameters: Mapping[str, float]
    machine: Mapping[str, float | str] | None = None
    changes: tuple[LoadChange, ...] = ()
    cycle_s: float = 0.0
    rate_per_s: float | None = None


def _log_whole(rng: np.random.Generator, low: int, high: int) -> int:
    return round(log_uniform(rng, low, high))


def _anybody(rng: np.random.Generator) -> Scale:
    return Scale(_log_whole(rng, *CONNECTIONS), _log_whole(rng, *CPUS))


def _like_live(rng: np.random.Generator) -> Scale:
    """Half of them as on the machine that the live records come from."""
    if rng.random() < 0.5:
        return _anybody(rng)
    return Scale(int(rng.choice(live.CONNECTIONS)), int(rng.choice(live.CPUS)))


@dataclass(frozen=True, slots=True)
class SimulatedFamily:
    """A named distribution of scenarios.

    Attributes:
        name: Name in records and tables.
        description: One sentence for people.
        draw: Draws the classes and what else the family is about.
        populate: Draws who sends and who serves.
        load: How much is asked of who serves, whoever was drawn to send; None for those as they were drawn.
    """

    name: str
    description: str
    draw: Callable[[np.random.Generator, Scale], Drawn]
    populate: Callable[[np.random.Generator], Scale] = _anybody
    load: LightLoad | None = None


def draw_scenario(family: SimulatedFamily, seed: int, number: int = 0) -> Scenario:
    """Draws one scenario of a family; the same arguments give the same scenario."""
    rng = np.random.default_rng([seed, number, *family.name.encode()])
    population = family.populate(rng)
    drawn = family.draw(rng, population)
    workload = Workload(
        name=f"{family.name}-{seed}-{number}",
        family=family.name,
        classes=drawn.classes,
        connections=max(population.connections, len(drawn.classes)),  # a closed loop needs one for each class
        rate_per_s=drawn.rate_per_s,
        cpus=population.cpus,
        seed=int(rng.integers(2**31)),
        parameters={**drawn.parameters, "cpus": float(population.cpus), "connections": float(population.connections)},
    )
    scenario = Scenario(workload, _machine(rng, drawn.machine or {}), drawn.changes, drawn.cycle_s)
    return scenario if family.load is None else family.load.on(scenario, rng)


def _machine(rng: np.random.Generator, needed: Mapping[str, float | str]) -> Machine:
    drawn = {
        "law": "slices" if rng.random() < 0.8 else "cost",
        "overhead_us": log_uniform(rng, 3, 40),
        "wake_us": log_uniform(rng, 2, 60),
        "wake_cost_us": log_uniform(rng, 1, 8),
        "create_us": log_uniform(rng, 20, 200),
        "timer_slack_us": log_uniform(rng, 1, 80),
        "client_us": log_uniform(rng, 0.05, 1.0),
        "switch_us": log_uniform(rng, 0.5, 10),
        "quantum_us": log_uniform(rng, 700, 5000),
        "cache_loss": rng.uniform(0.0, 0.6),
    }
    return Machine.model_validate({**drawn, **needed})


def _closed(steps: tuple[Step, ...], parameters: Mapping[str, float], think_ms: float = 0.0, **rest: object) -> Drawn:
    return Drawn((RequestClass("all", steps, think_ms=think_ms),), parameters, **rest)  # type: ignore[arg-type]


def _cpu_bound(rng: np.random.Generator, _: Scale) -> Drawn:
    drawn = {"cpu_us": log_uniform(rng, 50, 5000), "variation": rng.uniform(0, 1.5)}
    return _closed((cpu_step(drawn["cpu_us"], drawn["variation"]),), drawn)


def _io_bound(rng: np.random.Generator, population: Scale) -> Drawn:
    drawn = {
        "cpu_us": log_uniform(rng, 50, 800),
        "wait_us": log_uniform(rng, 200, 20_000),
        "reported": float(rng.random() < 0.5),
        "disks": float(rng.choice([0, 0, 1, 4])),
    }
    wait = Step("wait", us=drawn["wait_us"], variation=0.7, kind="disk_io", reported=bool(drawn["reported"]))
    machine = {"disks": drawn["disks"], "disk_channels": float(_log_whole(rng, 4, 64 + population.cpus))}
    return _closed((cpu_step(drawn["cpu_us"]), wait), drawn, machine=machine)


def _short_beside_long(rng: np.random.Generator, _: Scale) -> Drawn:
    drawn = {
        "short_us": log_uniform(rng, 50, 600),
        "long_us": log_uniform(rng, 5000, 60_000),
        "share": rng.uniform(0.05, 0.4),
        "target_ms": log_uniform(rng, 5, 80),
    }
    weight = 0.5 * drawn["long_us"] / drawn["short_us"]
    classes = (
        RequestClass("short", (cpu_step(drawn["short_us"]),), share=1.0 - drawn["share"], target_ms=drawn["target_ms"]),
        RequestClass("long", (cpu_step(drawn["long_us"]),), share=drawn["share"], weight=weight),
    )
    return Drawn(classes, drawn)


def _hot_latch(rng: np.random.Generator, _: Scale) -> Drawn:
    drawn = {
        "cpu_us": log_uniform(rng, 50, 2000),
        "hold_us": log_uniform(rng, 5, 300),
        "spin_us": log_uniform(rng, 10, 1500),
        "waiter_cost_us": log_uniform(rng, 0.1, 40),
    }
    acquire = Step("acquire", spin_us=int(drawn["spin_us"]), waiter_cost_us=drawn["waiter_cost_us"])
    return _closed((cpu_step(drawn["cpu_us"]), acquire, cpu_step(drawn["hold_us"], 0.2), Step("release")), drawn)


def _hot_rows(rng: np.random.Generator, _: Scale) -> Drawn:
    """Rows are locked until the commit; their number decides how hot they are."""
    drawn = {
        "cpu_us": log_uniform(rng, 50, 500),
        "rows": float(_log_whole(rng, 1, 32)),
        "waiter_cost_us": log_uniform(rng, 0.1, 20),
        "reported": float(rng.random() < 0.7),
    }
    row = Step(
        "acquire",
        spread=int(drawn["rows"]),
        waiter_cost_us=drawn["waiter_cost_us"],
        reported=bool(drawn["reported"]),
    )
    steps = (Step("begin"), cpu_step(drawn["cpu_us"]), row, cpu_step(drawn["cpu_us"]), Step("commit"))
    return _closed(steps, drawn, machine={"flush_us": log_uniform(rng, 10, 500)})


def _commit_bound(rng: np.random.Generator, _: Scale) -> Drawn:
    drawn = {"cpu_us": log_uniform(rng, 50, 500), "flush_us": log_uniform(rng, 200, 8000)}
    machine = {"flush_us": drawn["flush_us"], "flush_reported": float(rng.random() < 0.7)}
    return _closed((Step("begin"), cpu_step(drawn["cpu_us"]), Step("commit")), drawn, machine=machine)


def _bursty(rng: np.random.Generator, population: Scale) -> Drawn:
    drawn = {
        "cpu_us": max(log_uniform(rng, 100, 4000), LEAST_CPU_US_PER_CPU * population.cpus),
        "calm": rng.uniform(0.1, 0.5),
        "burst": rng.uniform(0.8, 1.5),
    }
    full_per_s = population.cpus * 1e6 / drawn["cpu_us"]
    changes = tuple(
        LoadChange(at_s=at_s, rate_per_s=full_per_s * drawn["burst" if place % 2 else "calm"])
        for place, at_s in enumerate(_half_cycles(), start=1)
    )
    target_ms = max(20.0, 15 * drawn["cpu_us"] / 1e3)
    classes = (RequestClass("all", (cpu_step(drawn["cpu_us"], 1.0),), target_ms=target_ms),)
    return Drawn(classes, drawn, changes=changes, cycle_s=CYCLE_S, rate_per_s=full_per_s * drawn["calm"])


def _half_cycles() -> list[float]:
    half_s = CYCLE_S / 2
    return [number * half_s for number in range(1, round(LONGEST_S / half_s))]


def _think_time_heavy(rng: np.random.Generator, population: Scale) -> Drawn:
    drawn = {"cpu_us": log_uniform(rng, 50, 2000), "utilisation": rng.uniform(0.05, 1.2)}
    # Closed loop: connections / think time is the rate, rate * CPU time / CPUs the utilisation.
    think_ms = population.connections * drawn["cpu_us"] / 1e3 / (population.cpus * drawn["utilisation"])
    return _closed((cpu_step(drawn["cpu_us"], 1.0),), drawn, think_ms=think_ms)


def _many_idle(rng: np.random.Generator, population: Scale) -> Drawn:
    drawn = {"cpu_us": log_uniform(rng, 50, 1000), "busy": log_uniform(rng, 0.01, 0.3)}
    busy = max(round(drawn["busy"] * population.connections), 1)
    wait = Step("wait", us=log_uniform(rng, 200, 5000), variation=0.5)
    return _closed((cpu_step(drawn["cpu_us"]), wait), drawn, changes=(LoadChange(at_s=0.0, connections=busy),))


def _shifting(rng: np.random.Generator, population: Scale) -> Drawn:
    least_us = LEAST_CPU_US_PER_CPU * population.cpus
    drawn = {
        "cpu_us": max(log_uniform(rng, 100, 4000), least_us),
        "wait_us": log_uniform(rng, 500, 10_000),
        "waiting_cpu_us": max(50.0, least_us),
    }
    wait = Step("wait", us=drawn["wait_us"], variation=0.5)
    classes = (
        RequestClass("compute", (cpu_step(drawn["cpu_us"]),), share=0.9),
        RequestClass("waiting", (cpu_step(drawn["waiting_cpu_us"]), wait), share=0.1),
    )
    changes = tuple(
        LoadChange(at_s=at_s, shares=(0.1, 0.9) if place % 2 else (0.9, 0.1))
        for place, at_s in enumerate(_half_cycles(), start=1)
    )
    return Drawn(classes, drawn, changes=changes, cycle_s=CYCLE_S)


def _composed(rng: np.random.Generator, _: Scale) -> Drawn:
    return Drawn(draw_composed(rng), {})


def _composed_apart(rng: np.random.Generator, _: Scale) -> Drawn:
    return Drawn(draw_to_choose_by(rng), {})


def any_machine(rng: np.random.Generator) -> Scale:
    """Loads of a pool in use; every third on one or two processors, where most people try first."""
    cpus = int(rng.integers(1, 3)) if rng.random() < 1 / 3 else _log_whole(rng, *CPUS)
    return Scale(_log_whole(rng, 8, 2048), cpus)


def _twin_of(family: Family) -> SimulatedFamily:
    def draw(rng: np.random.Generator, population: Scale) -> Drawn:
        classes, parameters = family.draw(rng, population)
        calibrated = CALIBRATED.model_dump(exclude={"law", "flush_reported", "client_shares"})
        near = {name: value * log_uniform(rng, 0.7, 1.4) for name, value in calibrated.items() if name.endswith("_us")}
        # Live, the load generator has a processor of its own beside one of the pool, and shares two.
        machine = {**near, "law": CALIBRATED.law, "client_shares": population.cpus == 2}
        return Drawn(classes, parameters, machine)

    return SimulatedFamily(f"twin_{family.name}", f"simulated: {family.description}", draw, _like_live)


SIMULATED_FAMILIES: Mapping[str, SimulatedFamily] = {
    family.name: family
    for family in (
        SimulatedFamily("sim_cpu_bound", "one class of CPU", _cpu_bound),
        SimulatedFamily("sim_io_bound", "CPU and a disk wait, reported or not, at few or many disks", _io_bound),
        SimulatedFamily("sim_short_beside_long", "short CPU with a target beside long CPU", _short_beside_long),
        SimulatedFamily("sim_hot_latch", "CPU and one latch that spins and degrades", _hot_latch),
        SimulatedFamily("sim_hot_rows", "transactions that lock one of a few rows until they commit", _hot_rows),
        SimulatedFamily("sim_commit_bound", "transactions that wait for the flush of the log", _commit_bound),
        SimulatedFamily("sim_bursty", "arrivals that alternate between calm and overload", _bursty),
        SimulatedFamily("sim_think_time_heavy", "CPU with pauses of the clients, idle to saturated", _think_time_heavy),
        SimulatedFamily("sim_many_idle", "many connections, few of which send", _many_idle),
        SimulatedFamily(COMPOSED, "one to three classes of steps drawn at random", _composed, any_machine),
        SimulatedFamily("sim_shifting", "a mix that swings between CPU and silent waits", _shifting),
        *(_twin_of(family) for family in live.FAMILIES.values() if family.split == "train"),
    )
}

CHOOSING_FAMILY = SimulatedFamily(
    "sim_composed_apart",
    "classes of steps drawn at random, of compositions that are held out to choose models by",
    _composed_apart,
    any_machine,
)
"""The family that models for machines of any size are chosen by; nothing learns from it."""
