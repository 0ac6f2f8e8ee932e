"""What watching a MariaDB server costs it: processor time of a look, and throughput with and without, interleaved.

How to run: `python benchmarks/mariadb_cost.py [--folder lab/small]` (four minutes, nothing beside). Throughput drifts
by 10 % and more over seconds, so neighbouring windows are half a second long; the watched ones hold a whole look each,
which is twice the looks of a server watched once a second. Results to expect: a share of a core far below 0.5 %, and a
ratio of watched to unwatched throughput whose interval excludes 0.97.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy.stats import bootstrap

from poolpilot.env.output import write_json
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer

LOOKS = 300
PAIRS = 200
WINDOW_S = 0.5
WORKLOAD = "point_select-1-0"


def cost_of_observing(server: MariadbServer) -> dict[str, float]:
    """Share of a core that one look a second takes of the server, at two sizes: more groups are more rows."""
    shares = {}
    first = server.tuple_in_force()
    for size in (2, 128):
        server.apply(first.with_core((size, 3, 500)))
        assert server.process is not None
        before_us = server.process.cpu_us()
        for _ in range(LOOKS):
            server.snapshot()
        after_us = server.process.cpu_us()
        assert before_us is not None
        assert after_us is not None
        shares[f"size_{size}"] = (after_us - before_us) / LOOKS / 1e6
    server.apply(first)
    return shares


def watched_against_unwatched(server: MariadbServer, load: SqlLoad, rng: np.random.Generator) -> list[float]:
    """Ratios of throughput, watched over unwatched, of neighbouring windows in random order."""

    def throughput(*, watched: bool) -> float:
        before = next(iter(load.histograms().values())).count
        began_s = time.monotonic()
        if watched:
            server.snapshot()
            server.run_for(WINDOW_S)
        else:
            time.sleep(WINDOW_S)
        return float(next(iter(load.histograms().values())).count - before) / (time.monotonic() - began_s)

    ratios = []
    for _ in range(PAIRS):
        watched_first = bool(rng.integers(2))
        rates = {watched: throughput(watched=watched) for watched in (watched_first, not watched_first)}
        ratios.append(rates[True] / rates[False])
    return ratios


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_cost.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab/small"))
    given = parser.parse_args()
    console = Console()
    lab = Lab(given.folder, LabSettings())
    with lab, MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        idle = cost_of_observing(server)
        with SqlLoad(named_workload(WORKLOAD), lab.load_file, lab.dataset) as load:
            server.run_for(2.0)
            ratios = watched_against_unwatched(server, load, np.random.default_rng(0))
    interval = bootstrap((np.log(ratios),), np.mean, n_resamples=5000, rng=np.random.default_rng(0)).confidence_interval
    report = {
        "share_of_a_core_a_look_a_second": idle,
        "ratio": float(np.exp(np.mean(np.log(ratios)))),
        "low": float(np.exp(interval.low)),
        "high": float(np.exp(interval.high)),
        "pairs": PAIRS,
    }
    console.print(report)
    write_json(given.json, report)


if __name__ == "__main__":
    main()
