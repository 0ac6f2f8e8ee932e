"""What a warm climb ends on where transactions fight over rows, with a trial of fewer groups first and without.

    python benchmarks/fewer_groups_first.py --runs build/fewer_groups_first.jsonl

Under every file in `benchmarks/workloads/fought_over_rows` the climb of `poolpilot climb --warm` has half a minute on a
MariaDB of its own, once as it ships and once with the bandit that goes by known curves alone; three constants tried in
turn have one, too. What the three end on is measured in turns on one more server, there and back, beside the default.
The files were written before the first was measured. Half an hour on a machine that does nothing else; goes on where it
was stopped. `python benchmarks/suite_page.py` writes the table.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.portfolio import portfolio_on
from poolpilot.agent.controllers.trial_controller import TrialController
from poolpilot.agent.controllers.warm_start import MARIADB_CLIMB, MARIADB_WARM_START, WarmStart, size_climb
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.tuning.loop import tune
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.observations.wait_rules import WaitRules
from poolpilot.pipelines.evaluate.live.judging.live_result import DEFAULT
from poolpilot.pipelines.evaluate.live.judging.paired_windows import errors_of, round_values
from poolpilot.pipelines.evaluate.live.live_evaluate import WorkloadFilesSettings
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.live.live_run import draws_seed, windows_of_choices
from poolpilot.pipelines.evaluate.live.workload_files import read_stages
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars

WORKLOADS = Path("benchmarks/workloads/fought_over_rows")
CONSTANTS = 3

Row = Mapping[str, Any]


def main() -> None:
    """Measures every workload and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/fewer_groups_first.json"))
    parser.add_argument("--runs", type=Path, default=None, help="file of finished workloads, to go on after a stop")
    parser.add_argument("--workloads", type=Path, default=WORKLOADS, help="folder of workload files of MariaDB")
    given = parser.parse_args()
    settings = WorkloadFilesSettings()
    stages = read_stages(given.workloads, settings.place)
    rows = {row["workload"]: row for row in read_runs(given.runs)}
    with opened_for_more(given.runs) as out, progress_bars(terminal()) as bars:
        for stage in bars.each("climbing", stages, lambda stage: stage.name):
            if stage.name not in rows:
                rows[stage.name] = measured(stage, methods(), settings)
                keep_run(rows[stage.name], out)
    write_json(given.json, {"rows": [rows[stage.name] for stage in stages]})


def methods() -> Mapping[str, OpenMethod]:
    """The climb as it ships, the one by curves alone, and constants in turn."""
    curves = load_curves()

    def warm(bandit: LatentBandit) -> OpenMethod:
        return lambda knobs, objective, _: WarmStart(
            bandit, knobs, objective, size_climb(MARIADB_CLIMB, knobs, objective), MARIADB_WARM_START
        )

    def constants(knobs: KnobSpace, objective: Objective, _: int) -> Controller:
        portfolio = portfolio_on(curves, knobs, objective, CONSTANTS)
        return TrialController(portfolio, knobs, objective, CONSTANTS, MARIADB_WARM_START.measurement)

    return {
        "fewer_first": warm(LatentBandit(curves, rules=WaitRules())),
        "by_curves": warm(LatentBandit(curves)),
        "constants": constants,
    }


def measured(stage: Stage, opened: Mapping[str, OpenMethod], settings: WorkloadFilesSettings) -> Row:
    """What every method ends on, how often rows were waited for, and gains over the default in ln J with errors."""
    cores, tried = dict[str, Core](), dict[str, Sequence[Core]]()
    for name, open_method in opened.items():
        with stage.open_server() as server:
            cores.setdefault(DEFAULT, server.tuple_in_force().core)
            server.run_for(settings.run.warm_up_s)
            controller = open_method(server.knobs, stage.objective, draws_seed(stage, settings.run.seed))
            budget_s, period_s = settings.mariadb.budget_s, settings.run.period_s
            trace = tune(server, controller, stage.objective, period_s=period_s, horizon_s=budget_s)
            cores[name] = server.tuple_in_force().core
            tried[name] = list(dict.fromkeys(step.pool_tuple.core for step in trace.steps))
    rng = np.random.default_rng([settings.run.seed, stage.seed])
    windows = windows_of_choices(stage, cores, stage.objective, settings.run, rng)
    means = {name: float(np.mean(round_values(each, stage.objective))) for name, each in windows.items()}
    errors = dict(zip(windows, errors_of(list(windows.values()), stage.objective), strict=True))
    return {
        "workload": stage.name,
        "methods": {
            name: {
                "core": cores[name],
                "tried": tried[name],
                "gain": means[name] - means[DEFAULT],
                "error": errors[name],
            }
            for name in opened
        },
    }


if __name__ == "__main__":
    main()
