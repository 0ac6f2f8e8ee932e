"""Whether tuning pays on a real MariaDB: a tuner in apply mode for so long, beside the default and a constant.

Every workload of the MariaDB suite gets a freshly started private server. `poolpilot tune --mode apply` runs beside it
as a process of its own, which sees what an account without rights to the data sees: it knows no classes and tunes the
server's throughput. Then the default, (16, 3, 10) and the tuple that it left are measured in a random order and that
order reversed, on the same server under the same load, until the standard error is small or the rounds are used up.
"""

import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from page_tables.tuner_tables import MEANS
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.output import terminal
from poolpilot.errors import ServerError
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.live.judging.paired_windows import (
    PairedSettings,
    error_of_difference,
    paired_windows,
)
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval
from poolpilot.serve.commands.production.tuner_child import TunerChild
from suite.objectives import OBJECTIVES, judged
from suite.suite_cells import SUITE_SEED, named_cells, suite_cells

CONSTANT: Core = (16, 3, 10)
MINUTES, QUICK_MINUTES = 8.0, 0.5
WORKLOADS = (
    *("points_beside_scans", "mixed_beside_analytics", "hot_rows_256", "orders_2", "pausing_beside_scans"),
    *("slow_flushes", "overload_bursts", "remote_calls", "dump_beside", "locked_table"),
)
LEAST_FAMILIES = 3
"""Of fewer there is no interval."""


def measured(task: Task) -> Found:
    """One workload: the tuner for so long, then the three tuples.

    Raises:
        ServerError: Server, load or tuner has ended.
    """
    (cell,) = named_cells([task.scenario], suite_cells(SUITE_SEED, 1))
    stage = lab_stage(cell.workload, LabPlace(folder=Path("lab")))
    with stage.open_server() as server:
        assert isinstance(server, LabServer)
        default = server.tuple_in_force()
        trials = tuned(server, 60.0 * (QUICK_MINUTES if task.quick else MINUTES))
        cores = [default.core, CONSTANT, server.tuple_in_force().core]
        objective = judged(OBJECTIVES["throughput"](cell.workload))
        rng = np.random.default_rng([SUITE_SEED, stage.seed])
        windows = paired_windows(server, cores, objective, PairedSettings(), rng)
    of_default, of_constant, of_tuned = map(rounds, windows)
    over_default, over_constant = gain(of_tuned, of_default), gain(of_tuned, of_constant)
    named = {"workload": cell.workload.name, "family": cell.workload.family, "tuned": cores[-1], "trials": trials}
    return {**named, "tuned_over_default": over_default, "tuned_over_constant": over_constant}


def tuned(server: LabServer, seconds: float) -> int:
    """Lets a tuner run beside the server, which is ended in order; its trials."""
    with tempfile.TemporaryDirectory() as kept:
        told = Path(kept) / "told.json"
        options = ["--mode", "apply", "--json", str(told), "--log", f"{kept}/log"]
        say = partial(terminal().print, soft_wrap=True)
        with TunerChild(server.lab.defaults_file, Path(kept) / "journals", options, say) as child:
            time.sleep(seconds)
            if not child.alive:
                raise ServerError("the tuner has ended before its time: what it said is above")
        return int(json.loads(told.read_text())["trials"])


def rounds(windows: Sequence[Window]) -> NDArray[np.float64]:
    """Mean ln throughput of the two windows of every round, (rounds,)."""
    logs = np.log([max(window.throughput_per_s, 1e-3) for window in windows])
    means: NDArray[np.float64] = logs.reshape(-1, 2).mean(axis=1)
    return means


def gain(logs: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float]:
    """Mean difference of ln throughput, and its standard error by rounds."""
    return float((logs - others).mean()), error_of_difference(logs, others)


def summarise(rows: Rows) -> dict[str, Any]:
    """The workloads, and mean gains over them with intervals clustered by family where there are enough."""
    found = [row.found for row in rows]
    return {"minutes": MINUTES, "made_with": made_with(), "summary": means_of(found), "rows": found}


def means_of(rows: Sequence[Found]) -> dict[str, Any]:
    """The mean of each gain with its interval."""
    means = {}
    for name in MEANS:
        by_family: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            by_family[row["family"]].append(row[name][0])
        interval = clustered_interval(by_family, 5000, 0) if len(by_family) >= LEAST_FAMILIES else None
        means[name] = {"mean": float(np.mean([row[name][0] for row in rows])), "interval": interval}
    return means


EXPERIMENTS = {
    "tuner_pays": Experiment(
        "What is the tuner worth on a MariaDB? Ten minutes a workload.",
        scenarios=WORKLOADS,
        measure=measured,
        summarise=summarise,
        under=made_with,
    )
}
