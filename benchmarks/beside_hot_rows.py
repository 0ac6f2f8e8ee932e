"""What a first step and fewer groups are worth where other classes run beside transactions on hot rows.

    python benchmarks/beside_hot_rows.py

Every file in `benchmarks/workloads/beside_hot_rows` runs on a MariaDB of its own. A look at the default says how often
a statement waits for a row, and one that writes, and what the wait rules advise. Then three configurations are measured
in turns, there and back: the default, the first step (twice as many groups as processors, stall limit 10 ms), and half
as many groups as processors. Goodput is weighted: a transaction on hot rows counts as five requests of the other class.
A quarter of an hour on a machine that does nothing else; `python benchmarks/suite_page.py` writes the table.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.window import Window
from poolpilot.models.observations.wait_rules import RowWaits, WaitRules
from poolpilot.pipelines.evaluate.live.judging.paired_windows import (
    PairedSettings,
    errors_of,
    paired_windows,
    round_values,
)
from poolpilot.pipelines.evaluate.live.live_evaluate import WorkloadFilesSettings
from poolpilot.pipelines.evaluate.live.workload_files import read_stages
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.progress_bars import progress_bars

WORKLOADS = Path("benchmarks/workloads/beside_hot_rows")
WARM_UP_S, LOOK_S = 3.0, 5.0

Row = Mapping[str, Any]


def main() -> None:
    """Measures every workload and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/beside_hot_rows.json"))
    parser.add_argument("--workloads", type=Path, default=WORKLOADS, help="folder of workload files of MariaDB")
    given = parser.parse_args()
    stages = read_stages(given.workloads, WorkloadFilesSettings().place)
    with progress_bars(terminal()) as bars:
        rows = [measured(stage) for stage in bars.each("measuring", stages, lambda stage: stage.name)]
    write_json(given.json, {"rules": WaitRules().digest, "rows": rows})


def measured(stage: Stage) -> Row:
    """What a look at the default shows and advises, and the gain of the two steps in ln J, with their errors."""
    with stage.open_server() as server:
        server.run_for(WARM_UP_S)
        default, before = server.tuple_in_force(), server.snapshot()
        server.run_for(LOOK_S)
        look = Window.between(before, server.snapshot())
        cpus, stall_ms = server.knobs.cpus, WaitRules().settings.stall_limit_ms
        cores = [default.core, (2 * cpus, default.oversubscribe, stall_ms), (max(cpus // 2, 1), *default.core[1:])]
        windows = paired_windows(server, cores, stage.objective, PairedSettings(), np.random.default_rng(stage.seed))
        shown = seen(look, server.knobs)
    means = [float(np.mean(round_values(each, stage.objective))) for each in windows]
    gains = {name: mean - means[0] for name, mean in zip(("step", "fewer"), means[1:], strict=True)}
    errors = dict(zip(("step_error", "fewer_error"), errors_of(windows, stage.objective)[1:], strict=True))
    return {"workload": stage.name, **shown, **gains, **errors}


def seen(look: Window, limits: KnobSpace) -> Row:
    """How often rows are waited for, by what, and what the rules make of that."""
    waits, found = RowWaits.of(look), WaitRules().advise(look, limits)
    return {
        "waits_per_statement": waits.per_statement,
        "waits_per_write": waits.per_write,
        "waiting_share": waits.at_once / (look.profile.features["connections"] or 1.0),
        "advised": None if found is None else found.pool_tuple.core,
    }


if __name__ == "__main__":
    main()
