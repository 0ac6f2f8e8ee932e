"""Whether tuning pays on a real MariaDB: a tuner in apply mode for so long, beside the default and a constant.

    python benchmarks/tuner_pays.py --runs build/tuner_pays.jsonl --json benchmarks/reports/tuner_pays.json
    python benchmarks/tuner_pays.py --minutes 4 --demo-pace --names sleeps_and_locks shifting  # a first look

Every workload of the MariaDB suite gets a freshly started private server. `poolpilot tune --mode apply` runs beside it
for `--minutes` (an hour is what is asked for) as a process of its own, which sees what an account without rights to the
data sees: it knows no classes and tunes the server's throughput. Then the default, (16, 3, 10) and the tuple that it
left are measured in a random order and that order reversed, on the same server under the same load, until the standard
error is small or the rounds are used up. *Meanwhile* is what clients got while it tuned, over what they get from the
default; *unsafe* the share of its windows below 95 % of that, less what the default's own windows scatter (3 standard
deviations); *least class* what that class completes which loses most, over what it completes under the default. On a
quiet machine: the minutes and about one more for each workload; goes on where it was stopped. With `--demo-pace` the
tuner watches and waits for seconds where it would for minutes, as in `make demo-production`. `--keep-logs` keeps its
decisions, for `observation_distances.py --logs` and `poolpilot why`. `--finished` measures nothing and reports every
workload in `--runs` as it was measured last, by whatever tuner: its digest is in the row.
"""

import argparse
import json
import math
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from harness.code_digest import made_with
from poolpilot.env.measurement.other_work import other_work
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.output import terminal, warn, write_json
from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.suite.suite_cells import SUITE_SEED, SuiteCell, named_cells, suite_cells
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen, watched
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings, paired_windows
from poolpilot.pipelines.evaluate.suite.suite_objectives import OBJECTIVES, judged
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.serve.commands.production.production_settings import DemoGuard, DemoPace
from poolpilot.serve.commands.production.tuner_child import TunerChild, flags_of
from tuner_pays_report import Comparison, summary_of, table_of

CONSTANT: Core = (16, 3, 10)
UNSAFE = 0.95
WINDOW_S = 5.0
INTERRUPTED = 130


def main() -> int:
    """Runs the tuner under every workload and writes the report."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that its servers end with it
    console = terminal()
    cells = [] if given.finished else named_cells(given.names, suite_cells(given.seed, given.draws))
    asked = {"minutes": given.minutes, "demo_pace": given.demo_pace, "seed": given.seed}
    now = asked | {"made_with": made_with()}
    done = {
        row["workload"]: row["found"] | {"tuner": row["asked"].get("made_with", {}).get("tuner")}
        for row in read_runs(given.runs)
        if (asked.items() <= row["asked"].items() if given.finished else row["asked"] == now)
    }
    try:
        with opened_for_more(given.runs) as out:
            for cell in cells:
                name = cell.workload.name
                if name not in done and (found := _tried(cell, given, console)) is not None:
                    done[name] = found | {"tuner": now["made_with"]["tuner"]}
                    keep_run({"workload": name, "asked": now, "found": found}, out)
    except KeyboardInterrupt:
        console.print(f"Stopped; {f'what is finished is in {given.runs}' if given.runs else 'nothing was kept'}.")
        return INTERRUPTED
    rows = [{"workload": name, **found} for name, found in done.items()]
    if not rows:
        raise ServerError("no workload of the suite could be measured")
    summary = summary_of(rows)
    console.print(table_of(rows, summary))
    write_json(given.json, {**now, "constant": CONSTANT, "summary": summary, "rows": rows})
    return 0


def _tried(cell: SuiteCell, given: argparse.Namespace, console: Console) -> dict[str, Any] | None:
    name = cell.workload.name
    warn(other_work(), console)
    console.print(f"{name}: the tuner, {given.minutes:g} minutes", style="bold")
    try:
        with _log_of(name, given.keep_logs) as log:
            options = ["--log", str(log), *flags(given.demo_pace)]
            return measured(cell, given.folder, 60.0 * given.minutes, options, console)
    except ServerError as error:
        warn([f"{name} is left out: {error}"], console)
        return None


@contextmanager
def _log_of(workload: str, kept: Path | None) -> Iterator[Path]:
    """A folder for the decisions under a workload: one that stays, or none that does."""
    if kept is not None:
        yield kept / workload
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def flags(demo_pace: bool) -> list[str]:
    """What the tuner is told beside its mode: nothing, or the pace of the demonstration."""
    if not demo_pace:
        return []
    return ["--window=1", "--settle=0.3", *flags_of("guard", DemoGuard()), *flags_of("pace", DemoPace())]


def measured(
    cell: SuiteCell, folder: Path, seconds: float, tuner_flags: Sequence[str], console: Console
) -> dict[str, Any]:
    """One workload: the tuner for so long, then the three tuples.

    Raises:
        ServerError: Server, load or tuner has ended.
    """
    stage = lab_stage(cell.workload, LabPlace(folder=folder))
    with stage.open_server() as server:
        assert isinstance(server, LabServer)
        default = server.tuple_in_force()
        meanwhile, told = _tuned(server, seconds, tuner_flags, console)
        cores = [default.core, CONSTANT, server.tuple_in_force().core]
        objective = OBJECTIVES["throughput"](cell.workload)
        rng = np.random.default_rng([SUITE_SEED, stage.seed])
        compared = Comparison(*paired_windows(server, cores, judged(objective), PairedSettings(), rng))
    return {
        "family": cell.workload.family,
        "expected": cell.expectation.in_words,
        "default": default.core,
        "tuned": cores[-1],
        "tries": told["trials"],
        "roll_backs": told["roll_backs"],
        **compared.as_dict(),
        **_while_tuning(meanwhile, compared.default),
    }


def _tuned(
    server: LabServer, seconds: float, tuner_flags: Sequence[str], console: Console
) -> tuple[PhaseSeen, dict[str, Any]]:
    """What clients get while a tuner runs beside the server, which is ended in order, and what it says of itself."""
    assert isinstance(server.clients, SqlLoad)
    with tempfile.TemporaryDirectory() as kept:
        told = Path(kept) / "told.json"
        options = ["--mode", "apply", "--json", str(told), *tuner_flags]
        say = partial(console.print, soft_wrap=True)
        with TunerChild(server.lab.defaults_file, Path(kept) / "journals", options, say) as child:
            seen = watched(server.clients, seconds, WINDOW_S)
            if not child.alive:
                raise ServerError("the tuner has ended before its time: what it said is above")
        return seen, json.loads(told.read_text())


def _while_tuning(meanwhile: PhaseSeen, default: Sequence[Window]) -> dict[str, float]:
    rates = np.array([window.throughput_per_s for window in default])
    least = UNSAFE * rates.mean() - 3.0 * rates.std(ddof=1)
    return {
        "meanwhile_over_default": math.log(max(meanwhile.throughput_per_s, 1e-3) / rates.mean()),
        "unsafe": float(np.mean([rate < least for rate in meanwhile.rates])),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long the tuner runs under each workload")
    parser.add_argument("--demo-pace", action="store_true", help="seconds for minutes, as in make demo-production")
    parser.add_argument("--names", nargs="+", default=[], help="families or workloads; all if not given")
    parser.add_argument("--draws", type=int, default=1, help="draws of each family")
    parser.add_argument("--seed", type=int, default=SUITE_SEED, help="seed of the draws")
    parser.add_argument("--folder", type=Path, default=Path("lab"), help="where the test servers lie")
    parser.add_argument("--runs", type=Path, help="file of finished workloads, so that a stopped run goes on")
    parser.add_argument("--finished", action="store_true", help="measure nothing, report all that is in --runs")
    parser.add_argument("--json", type=Path, help="where the report goes")
    parser.add_argument("--keep-logs", type=Path, help="folder for the decisions under each workload")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except PoolPilotError as error:
        raise SystemExit(str(error)) from error
