"""What watching a MariaDB costs it: processor time of a look, and throughput with and without, interleaved.

Throughput drifts by a tenth over seconds, so neighbouring windows are half a second long; each watched one holds a
whole look, which is twice the looks of a server watched once a second.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import bootstrap

from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer

LAB = Path("lab/small")
LOOKS, PAIRS, WINDOW_S = 300, 200, 0.5
WORKLOAD = "point_select-1-0"
OF_LOOKS, OF_LOAD = "looks", "load"


def measured(task: Task) -> Found:
    """The cost of looks at an idle server, or ratios of throughput under load."""
    lab = Lab(LAB, LabSettings())
    with lab, MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        if task.scenario == OF_LOOKS:
            return cost_of_looks(server)
        with SqlLoad(named_workload(WORKLOAD), lab.load_file, lab.dataset) as load:
            server.run_for(2.0)
            return {"ratios": watched_over_unwatched(server, load, 2 if task.quick else PAIRS)}


def cost_of_looks(server: MariadbServer) -> dict[str, float]:
    """Share of a core that one look a second takes of the server, at two sizes: more groups are more rows."""
    shares = {}
    first, process = server.tuple_in_force(), server.process
    assert process is not None
    for size in (2, 128):
        server.apply(first.with_core((size, 3, 500)))
        before_us = process.cpu_us()
        for _ in range(LOOKS):
            server.snapshot()
        after_us = process.cpu_us()
        assert before_us is not None
        assert after_us is not None
        shares[f"size_{size}"] = (after_us - before_us) / LOOKS / 1e6
    server.apply(first)
    return shares


def watched_over_unwatched(server: MariadbServer, load: SqlLoad, pairs: int) -> list[float]:
    """Ratios of throughput of neighbouring windows in random order."""
    rng, ratios = np.random.default_rng(0), list[float]()
    for _ in range(pairs):
        watched_first = bool(rng.integers(2))
        rates = {watched: throughput(server, load, watched=watched) for watched in (watched_first, not watched_first)}
        ratios.append(rates[True] / rates[False])
    return ratios


def throughput(server: MariadbServer, load: SqlLoad, *, watched: bool) -> float:
    """Requests a second of one window."""
    before = next(iter(load.histograms().values())).count
    began_s = time.monotonic()
    if watched:
        server.snapshot()
        server.run_for(WINDOW_S)
    else:
        time.sleep(WINDOW_S)
    return float(next(iter(load.histograms().values())).count - before) / (time.monotonic() - began_s)


def summarise(rows: Rows) -> dict[str, Any]:
    """Shares of a core, and the ratio with its interval where it was measured."""
    of = {row.task.scenario: row.found for row in rows}
    report: dict[str, Any] = {"share_of_a_core_a_look_a_second": of[OF_LOOKS]}
    if OF_LOAD not in of:
        return report
    logs = np.log(of[OF_LOAD]["ratios"])
    interval = bootstrap((logs,), np.mean, n_resamples=5000, rng=np.random.default_rng(0)).confidence_interval
    low, mean, high = (float(np.exp(one)) for one in (interval.low, np.mean(logs), interval.high))
    return report | {"ratio": mean, "low": low, "high": high, "pairs": len(logs)}


EXPERIMENTS = {
    "mariadb_cost": Experiment(
        "What does watching a MariaDB cost it? Four minutes.",
        scenarios=(OF_LOOKS, OF_LOAD),
        measure=measured,
        summarise=summarise,
    )
}
