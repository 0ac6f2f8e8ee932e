"""What families compose their workloads of: steps with their costs, and ways to set classes beside one another."""

from collections.abc import Mapping

import numpy as np

from poolpilot.native_pool.workload import RequestClass, Step


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draws from `low`..`high`, uniform in the logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def cpu_step(us: float, variation: float = 0.5) -> Step:
    """A step of CPU time."""
    return Step("cpu", us=us, variation=variation)


def silent_step(us: float, variation: float = 0.3) -> Step:
    """A wait that the pool is not told of."""
    return Step("wait", us=us, variation=variation)


def reported_step(us: float, variation: float = 0.3) -> Step:
    """A wait that the pool is told of."""
    return Step("wait", us=us, variation=variation, kind="disk_io", reported=True)


def draw_latch(rng: np.random.Generator) -> dict[str, float]:
    """How long a latch is held, how long one spins for it, and what a waiter costs its holder."""
    return {
        "hold_us": log_uniform(rng, 80, 400),
        "spin_us": log_uniform(rng, 100, 1500),
        "waiter_cost_us": log_uniform(rng, 5, 60),
    }


def latched(
    latch: Mapping[str, float], number: int = 0, spread: int = 1, inside: tuple[Step, ...] = ()
) -> tuple[Step, ...]:
    """CPU time under a latch as `draw_latch` gives it, and what else is done while it is held."""
    acquire = Step(
        "acquire", latch=number, spread=spread, spin_us=int(latch["spin_us"]), waiter_cost_us=latch["waiter_cost_us"]
    )
    return (acquire, cpu_step(latch["hold_us"], 0.2), *inside, Step("release", latch=number, spread=spread))


def one_class(*steps: Step, think_ms: float = 0.0, target_ms: float | None = None) -> tuple[RequestClass, ...]:
    """The only class of a workload."""
    return (RequestClass("all", steps, think_ms=think_ms, target_ms=target_ms),)


def short_and_long(
    short: tuple[Step, ...], long: tuple[Step, ...], *, short_us: float, long_us: float, share: float, target_ms: float
) -> tuple[RequestClass, ...]:
    """A short class with a target beside a long one, which has a share of the connections."""
    # A long completion is worth half the CPU it takes, in short ones: else the corner that starves it wins.
    return (
        RequestClass("short", short, share=1.0 - share, target_ms=target_ms),
        RequestClass("long", long, share=share, weight=0.5 * long_us / short_us),
    )


def cpu_us_of(steps: tuple[Step, ...]) -> float:
    """Mean CPU time of a program in microseconds."""
    return sum(step.us for step in steps if step.op == "cpu")
