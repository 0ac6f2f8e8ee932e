"""Synthetic sweeps for the tests of the agent: a small analytic model with a known best size."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile
from poolpilot.featurizer.schema import SCHEMA_VERSION, feature_names
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves, rounded

GRID = ActionGrid(sizes=(1, 2, 4, 8, 16, 32), oversubscribes=(3,), timer_intervals_ms=(10, 500))
CONNECTIONS = 128.0
CPU_US = 1000.0


def throughput_per_s(size: int, cpus: int, wait_to_cpu: float, contention: float) -> float:
    """Groups work until the processors are full; every group beyond the first slows all others by `contention`."""
    busy = min(size / (1.0 + wait_to_cpu), cpus)
    return busy / (CPU_US * 1e-6) / (1.0 + contention * (size - 1))


def synthetic_window(pool_tuple: PoolTuple, cpus: int, wait_to_cpu: float, contention: float, noise: float) -> Window:
    """A window of the model: a few features that tell waiting from contention, all others missing."""
    completed = round(throughput_per_s(pool_tuple.pool_size, cpus, wait_to_cpu, contention) * math.exp(noise))
    rate = float(completed)
    latency = Histogram.from_sparse([(bucket_of(CONNECTIONS / rate * 1e6), completed)])
    features: dict[str, float | None] = dict.fromkeys(feature_names())
    features |= {
        "connections": CONNECTIONS,
        "cpus": float(cpus),
        "completed_per_s": rate,
        "utilisation": min(rate * CPU_US * 1e-6 / cpus, 1.0),
        "wait_to_cpu": wait_to_cpu,
        "in_system": CONNECTIONS,
        "queue_share": 1.0 - pool_tuple.pool_size / CONNECTIONS,
        "latch_wait_us_per_request": contention * (pool_tuple.pool_size - 1) * CPU_US,
    }
    profile = WorkloadProfile(SCHEMA_VERSION, pool_tuple, features)
    return Window(SCHEMA_VERSION, pool_tuple, 1.0, profile, {"main": ClassWindow(rate, latency)})


def synthetic_sweep(
    name: str,
    *,
    cpus: int = 2,
    wait_to_cpu: float = 0.0,
    contention: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
    split: str = "train",
) -> WorkloadSweep:
    """Sweeps the model over the whole grid, two windows a tuple."""
    rng = np.random.default_rng(seed)
    limits = KnobSpace.stock(cpus)
    observed = [
        (number, synthetic_window(pool_tuple, cpus, wait_to_cpu, contention, noise * float(rng.standard_normal())))
        for number in range(2)
        for pool_tuple in GRID.tuples
    ]
    family = "waits" if wait_to_cpu > 1.0 else "contention" if contention > 0.0 else "cpu"
    return WorkloadSweep.build(
        observed, workload_id=name, family=family, split=split, limits=limits, objective=Objective()
    )


def synthetic_sweeps(count: int, seed: int, split: str) -> list[WorkloadSweep]:
    """Workloads between pure processor work, long waits and a contended latch."""
    rng = np.random.default_rng(seed)
    return [
        synthetic_sweep(
            f"{split}-{index}",
            cpus=int(rng.choice([1, 2])),
            wait_to_cpu=float(rng.choice([0.0, 2.0, 6.0, 14.0])),
            contention=float(rng.choice([0.0, 0.02, 0.3])),
            noise=0.02,
            seed=int(rng.integers(2**31)),
            split=split,
        )
        for index in range(count)
    ]


def curves_of(sweeps: Sequence[WorkloadSweep], grid: MachineGrid) -> ResponseCurves:
    """The sweeps as response curves, with the ratios of the window that was measured nearest to each reference."""

    def curve(sweep: WorkloadSweep) -> ResponseCurve:
        columns, price = grid.columns_on(sweep.limits), sweep.objective.price_of_thread
        near = [sweep.entries[sweep.neighbours(columns[place]).low] for place in grid.reference_columns]
        return ResponseCurve(
            name=sweep.workload_id,
            family=sweep.family,
            cpus=sweep.limits.cpus,
            connections=int(CONNECTIONS),
            log_worth=tuple(sweep.value(column) + price * math.log(column.pool_size) for column in columns),
            ratios=tuple(rounded(ratios_of(entry.windows[0].profile.features)) for entry in near),
        )

    return ResponseCurves(grid=grid, source="made for tests", curves=tuple(curve(sweep) for sweep in sweeps))


@pytest.fixture(scope="module", autouse=True)
def one_torch_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def grid() -> ActionGrid:
    return GRID


@pytest.fixture(scope="session")
def training() -> Sequence[WorkloadSweep]:
    return synthetic_sweeps(24, 1, "train")


@pytest.fixture(scope="session")
def validation() -> Sequence[WorkloadSweep]:
    return synthetic_sweeps(8, 2, "validation")


@pytest.fixture(scope="session")
def held_out() -> Sequence[WorkloadSweep]:
    return synthetic_sweeps(12, 3, "test")


@pytest.fixture(scope="session")
def waiting_sweep() -> WorkloadSweep:
    """Two processors and 7 us of waiting per us of work: 16 groups fill the processors."""
    return synthetic_sweep("waiting", wait_to_cpu=7.0)


@pytest.fixture(scope="session")
def contended_sweep() -> WorkloadSweep:
    """A latch that every group slows down: 2 groups are best."""
    return synthetic_sweep("contended", contention=0.3)
