"""`poolpilot bench simulator`: events, requests and environment steps a second, with SimPy beside them."""

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.environments.simulated_vector import SimulatedPoolVectorEnv
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool._core import SimulatedNetwork, SimulatedStation
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.simpy_models import run_mmc, run_pool

CHANNELS, RATE_PER_S, GROUPS, ENVIRONMENTS = 4, 3.2, 16, 10
MANY_CONNECTIONS = 60_000

MIXED = Workload(
    "cpu and silent waits",
    "benchmark",
    (RequestClass("all", (Step("cpu", us=100.0, variation=1.0), Step("wait", us=400.0, variation=1.0)), think_ms=1.0),),
    connections=64,
    cpus=4,
)


class SimulatorBenchSettings(ProgramSettings):
    """Settings of `poolpilot bench simulator`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_BENCH_SIMULATOR_")

    repeats: int = Field(default=5, ge=1, description="Interleaved repeats; medians and ratios of each are given.")
    services: int = Field(default=2_000_000, ge=1000, description="Services of M/M/c in a repeat.")
    requests: int = Field(default=500_000, ge=1000, description="Requests of the pool in a repeat.")
    simpy_share: float = Field(default=0.02, gt=0.0, le=1.0, description="Share of that work that SimPy does.")
    env_steps: int = Field(default=150, ge=1, description="Steps of the environment in a repeat, on one thread.")
    window_requests: int = Field(default=2000, ge=1, description="Requests of an environment's window.")


@dataclass(frozen=True)
class SimulatorBench:
    """Rates of every repeat, by name.

    Attributes:
        rates: One value a second for each repeat.
        bytes_per_connection: Memory of a simulated connection.
    """

    rates: dict[str, list[float]]
    bytes_per_connection: float

    def as_dict(self) -> dict[str, float | dict[str, list[float]]]:
        """Medians, ratios to SimPy (the least and the median of the repeats) and the repeats, fit for JSON."""
        medians = {name: float(np.median(values)) for name, values in self.rates.items()}
        events = self._ratios("events_per_s_core", "simpy_events_per_s")
        requests = self._ratios("pool_requests_per_s_core", "simpy_pool_requests_per_s")
        return {
            **medians,
            "events_over_simpy": float(np.median(events)),
            "events_over_simpy_least": float(events.min()),
            "pool_requests_over_simpy": float(np.median(requests)),
            "pool_requests_over_simpy_least": float(requests.min()),
            "bytes_per_connection": self.bytes_per_connection,
            "repeats": self.rates,
        }

    def _ratios(self, ours: str, theirs: str) -> NDArray[np.float64]:
        ratios: NDArray[np.float64] = np.array(self.rates[ours]) / np.array(self.rates[theirs])
        return ratios

    def table(self) -> Table:
        """The same for people."""
        table = Table(title="Simulator, one core", title_justify="left")
        for heading in ("what", "here", "SimPy", "ratio (least of the repeats)"):
            table.add_column(heading, justify="left" if heading == "what" else "right")
        values = self.as_dict()
        for what, ours, theirs, ratio in (
            ("M/M/4: events a second", "events_per_s_core", "simpy_events_per_s", "events_over_simpy"),
            (
                "pool: requests a second",
                "pool_requests_per_s_core",
                "simpy_pool_requests_per_s",
                "pool_requests_over_simpy",
            ),
        ):
            least = f"{values[ratio]:.0f} ({values[f'{ratio}_least']:.0f})"
            table.add_row(what, f"{values[ours]:,.0f}", f"{values[theirs]:,.0f}", least)
        table.add_row("environment: steps a second", f"{values['env_steps_per_s']:,.0f}", "", "")
        table.add_row("memory of a connection, bytes", f"{values['bytes_per_connection']:,.0f}", "", "")
        return table


def bench_simulator(settings: SimulatorBenchSettings) -> SimulatorBench:
    """Runs ours and SimPy's in turn, so that what else the machine does strikes both alike."""
    few_services = max(round(settings.simpy_share * settings.services), 1)
    few_requests = max(round(settings.simpy_share * settings.requests), 1)
    rates: dict[str, list[float]] = {}
    for repeat in range(settings.repeats):
        measured = {
            "events_per_s_core": _events_per_s(settings.services, repeat),
            "simpy_events_per_s": _simpy_events_per_s(few_services, repeat),
            "pool_requests_per_s_core": _requests_per_s(settings.requests),
            "simpy_pool_requests_per_s": _simpy_requests_per_s(few_requests),
            "env_steps_per_s": _env_steps_per_s(settings),
        }
        for name, rate in measured.items():
            rates.setdefault(name, []).append(rate)
    return SimulatorBench(rates, _bytes_per_connection_afresh())


def _events_per_s(services: int, seed: int) -> float:
    station = SimulatedStation(channels=CHANNELS, mean_s=[1.0])
    network = SimulatedNetwork(stations=[station], rate_per_s=[RATE_PER_S], seed=seed)
    network.run(services // 10)
    begun_s = time.process_time()
    events = network.run(services)["events"]
    return float(events) / (time.process_time() - begun_s)


def _simpy_events_per_s(services: int, seed: int) -> float:
    begun_s = time.process_time()
    events = run_mmc(CHANNELS, RATE_PER_S, services, seed)
    return events / (time.process_time() - begun_s)


def _requests_per_s(requests: int) -> float:
    server = Scenario(MIXED).open(PoolTuple(GROUPS, 3, 500))
    server.run_requests(requests // 10)
    begun_s = time.process_time()
    server.run_requests(requests)
    return requests / (time.process_time() - begun_s)


def _simpy_requests_per_s(requests: int) -> float:
    begun_s = time.process_time()
    run_pool(MIXED, GROUPS, requests)
    return requests / (time.process_time() - begun_s)


def _env_steps_per_s(settings: SimulatorBenchSettings) -> float:
    measurement = SimulatedMeasurement(requests=settings.window_requests)
    vector = SimulatedPoolVectorEnv(ENVIRONMENTS, [Scenario(MIXED)], measurement, threads=1)
    _, infos = vector.reset(seed=0)
    allowed = np.flatnonzero(infos["action_mask"][0])
    rng = np.random.default_rng(0)
    rounds = max(settings.env_steps // ENVIRONMENTS, 1)
    begun_s = time.process_time()
    for _ in range(rounds):
        vector.step(rng.choice(allowed, size=ENVIRONMENTS))
    return rounds * ENVIRONMENTS / (time.process_time() - begun_s)


def bytes_per_connection() -> float:
    """Growth of this process per connection of a large pool; right only in a process with no memory to reuse."""
    few = Workload("few", "benchmark", MIXED.classes, connections=1000, cpus=4)
    many = Workload("many", "benchmark", MIXED.classes, connections=MANY_CONNECTIONS, cpus=4)
    kept = [Scenario(few).open()]
    before = _resident_bytes()
    kept.append(Scenario(many).open())
    return (_resident_bytes() - before) / MANY_CONNECTIONS


def _bytes_per_connection_afresh() -> float:
    """The same in a new process."""
    program = f"from {__name__} import bytes_per_connection; print(bytes_per_connection())"
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
