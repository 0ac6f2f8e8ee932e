"""The MariaDB suite: what was written down beforehand, measured (docs/results-suite.md).

    python benchmarks/mariadb_suite.py --directions                     # the table of directions, and nothing else
    python benchmarks/mariadb_suite.py --runs suite.jsonl               # everything; goes on if stopped
    python benchmarks/mariadb_suite.py --names remote_calls shifting    # families or workloads
    python benchmarks/mariadb_suite.py --objective p99 --runs p99.jsonl --json p99.json
    python benchmarks/mariadb_suite.py --write FOLDER                   # files for poolpilot evaluate --workloads

On a quiet machine: seven to eight minutes a workload with two further methods, more where a load repeats itself slowly
(`shifting`: half an hour), so about ten hours for all 72 and a third of that with `--draws 1`. `--quick` has tiny
windows: it shows that everything runs, and its figures mean nothing. Results to expect: the advice moves the right way
in most cells that are not flat, and loses less than 5 % to the default in the flat ones.
"""

import argparse
import json
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, TaskID

from page_tables.suite_tables import KINDS
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.other_work import other_work
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.output import warn, write_json
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.lab.lab_server import LabPlace
from poolpilot.lab.suite.suite_cells import DRAWS, SUITE, SUITE_SEED, SuiteCell, named_cells, suite_cells
from poolpilot.mariadb.server.watch_settings import LONG_WATCH
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.workload_record import keep_sweep, shared_context, workload_row
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings
from poolpilot.pipelines.evaluate.live.live_evaluate import networks
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod, methods_on
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace, MethodSettings
from poolpilot.pipelines.evaluate.live.whole_cycles import methods_in_cycles
from poolpilot.pipelines.evaluate.suite.suite_objectives import OBJECTIVES
from poolpilot.pipelines.evaluate.suite.suite_report import SuiteReport
from poolpilot.pipelines.evaluate.suite.suite_run import CellResult, SuiteRunSettings, run_suite_cell, whole_cycles
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import new_progress
from poolpilot.pipelines.store.records import StagingStore
from suite_knowledge import Row, knowledge_of, known_by

QUICK = MeasurementSettings(
    settle_s=0.1,
    max_settle_s=0.2,
    window_s=0.2,
    window_ticks=0.0,
    keep_shares=(0.5,),
    final_repeats=0,
    oracle_repeats=1,
)
INTERRUPTED = 130


def main() -> int:
    """Measures what is not yet, prints and writes the report."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that its servers end with it
    console = Console(markup=False, emoji=False)
    cells = named_cells(given.names, suite_cells(given.seed, given.draws))
    if given.directions:
        print(directions(), end="")
        return 0
    if given.write is not None:
        write_files(given.write, cells)
        return 0
    settings = _settings(given)
    warn(other_work(), console)
    try:
        done = measured(cells, settings, given, console)
    except KeyboardInterrupt:
        kept = f"what is finished is in {given.runs}" if given.runs else "nothing was kept: name a file with --runs"
        console.print(f"Stopped; {kept}.")
        return INTERRUPTED
    if not done:
        raise ServerError("no workload of the suite could be measured")
    report = SuiteReport(
        [(cell, done[cell.workload.name]) for cell in cells if cell.workload.name in done], given.objective
    )
    for table in report.tables():
        console.print(table)
    rows = [row for row in asked_rows(given.runs, _asked(settings, given.methods)) if row["workload"] in done]
    write_json(given.json, report.as_dict() | {"known_by": knowledge_of(rows)})
    return 0


def measured(
    cells: Sequence[SuiteCell], settings: SuiteRunSettings, given: argparse.Namespace, console: Console
) -> dict[str, CellResult]:
    """The results of all cells that could be measured, those of an earlier run among them."""
    names, runs = given.methods, given.runs
    adviser = Advisor(Model.load(None, "mariadb"), server_view=True)
    asked, known = _asked(settings, names), known_by()
    done = {row["workload"]: CellResult.from_dict(row["result"]) for row in asked_rows(runs, asked)}
    with opened_for_more(runs) as out, new_progress(console) as progress:
        bar = progress.add_task("measuring", total=len(cells), shown="")
        for cell in cells:
            name = cell.workload.name
            if name not in done:
                try:
                    on_swept = partial(_keep_sweep, given.records, cell, OBJECTIVES[settings.objective](cell.workload))
                    show = partial(_show, progress, bar, name)
                    further = _further(names, settings, cell.workload.cycle_s)
                    result = run_suite_cell(cell, adviser, further, settings, show, on_swept)
                except ServerError as error:
                    warn([f"{name} is left out: {error}"], console)
                else:
                    keep_run({"workload": name, "asked": asked, "known_by": known, "result": result.as_dict()}, out)
                    done[name] = result
            progress.advance(bar)
    return done


def asked_rows(runs: Path | None, asked: str) -> list[Row]:
    """The finished workloads of a file that were asked the same, whatever the methods knew."""
    return [row for row in read_runs(runs) if _question(row["asked"]) == _question(asked)]


def _asked(settings: SuiteRunSettings, names: Sequence[str]) -> str:
    return json.dumps([settings.model_dump(mode="json"), list(names)], sort_keys=True)


def _keep_sweep(
    records: Path | None, cell: SuiteCell, objective: Objective, limits: KnobSpace, swept: Sequence[Measured]
) -> None:
    """Keeps the windows of a sweep as records, so that methods can be replayed on them."""
    if records is None:
        return
    workload, settings = cell.workload, CollectSettings(server="mariadb")
    planned = PlannedWorkload(SUITE[workload.family].split, workload)
    row = workload_row(planned, limits, objective, DEFAULT_GRID)
    context = shared_context(planned, settings.machine, settings.server, f"suite-{workload.name}")
    keep_sweep(StagingStore(records), row, context, objective, swept)


def _question(asked: str) -> object:
    """What a run was asked: its settings, but for where its servers lie and how they are looked at, and its methods."""
    settings, names = json.loads(asked)
    return {name: value for name, value in settings.items() if name != "place"}, names


def directions() -> str:
    """The table of the page."""
    lines = [
        "| family | what is sent | what limits it on two processors | direction | why | source |",
        "|---|---|---|---|---|---|",
    ]
    for cell in suite_cells(draws=1):
        name, expected = cell.workload.family, cell.expectation
        kind = KINDS[SUITE[name].split]
        texts = (
            f"`{name}` ({kind})",
            SUITE[name].description,
            expected.limit,
            expected.in_words,
            expected.why,
            expected.source,
        )
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def write_files(folder: Path, cells: Sequence[SuiteCell]) -> None:
    """Writes one workload file for each cell."""
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        text = json.dumps({"server": "mariadb", "workload": cell.workload.as_dict()}, indent=1)
        (folder / f"{cell.workload.name}.json").write_text(text + "\n")


def _settings(given: argparse.Namespace) -> SuiteRunSettings:
    common: dict[str, Any] = {"place": LabPlace(folder=given.folder, watch=LONG_WATCH), "objective": given.objective}
    if not given.quick:
        return SuiteRunSettings(**common)
    paired = PairedSettings(measurement=QUICK, least_rounds=2, most_rounds=2)
    grid = MachineGrid(sizes=(1, 16), multiples=(), oversubscribes=(3,))
    live = LiveRunSettings(grid=grid, sweep=QUICK, warm_up_s=0.2, period_s=0.2, paired=paired)
    pace = MariadbPace(measurement=QUICK, period_s=0.2, budget_s=1.0)
    return SuiteRunSettings(**common, look_s=0.5, live=live, pace=pace)


def _further(names: Sequence[str], settings: SuiteRunSettings, cycle_s: float) -> Mapping[str, OpenMethod]:
    """The further methods, paced as `poolpilot climb` on MariaDB, in whole cycles of a load that repeats itself."""
    if not names:
        return {}
    paced = MethodSettings(names=tuple(names)).on_mariadb(settings.pace)
    in_cycles = methods_in_cycles(paced, cycle_s)
    budget_s = whole_cycles(settings, cycle_s).live.budget_s
    return methods_on(load_curves(), networks(None), in_cycles, budget_s).opened


def _show(progress: Progress, bar: TaskID, name: str, step: str) -> None:
    progress.update(bar, shown=f"{name}: {step}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="+", default=[], help="families or workloads; all if not given")
    parser.add_argument("--objective", choices=tuple(OBJECTIVES), default="short", help="what counts")
    parser.add_argument("--methods", nargs="+", default=[], help="further methods, such as warm_start latent_bandit_3")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of each family")
    parser.add_argument("--seed", type=int, default=SUITE_SEED, help="seed of the draws")
    parser.add_argument("--folder", type=Path, default=Path("lab"), help="where the test servers lie")
    parser.add_argument("--runs", type=Path, help="file of finished workloads, so that a stopped run goes on")
    parser.add_argument("--records", type=Path, help="record store for the sweeps, so that rivals can be replayed")
    parser.add_argument(
        "--json", type=Path, help="where the report goes, such as benchmarks/reports/mariadb_suite.json"
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny windows: whether everything runs, not what comes out"
    )
    parser.add_argument("--directions", action="store_true", help="print the table of directions alone")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write workload files, and measure nothing")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except PoolPilotError as error:
        raise SystemExit(str(error)) from error
