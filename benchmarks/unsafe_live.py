"""Unsafe windows, guarded and unguarded, on the embedded pool under held-out workloads, in real time.

    python benchmarks/unsafe_live.py --runs build/unsafe_live.jsonl --json benchmarks/reports/unsafe_live.json

A workload of each validation family, on one and two processors in turns, runs under the predictor that ships from the
default: *guarded*, with the tuner as it ships, and *unguarded*, where what is named is set at once, each minute, both
under the same seed of the load. Before, between and after them the pool is left alone for a while; each of these five
parts begins with a pool and a load of its own. Which of the two comes first changes with every second workload.
Windows are counted as `unsafe_windows.py` counts them. On a machine that does nothing else: twelve minutes a workload,
an hour and a half in all; goes on where it was stopped.
"""

import argparse
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.code_digest import made_with
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from unsafe_arms import ARMS, untouched
from unsafe_counts import Seen, counts_of, summary, table_of
from unsafe_predictors import shipped
from unsafe_windows import HELD_OUT

WARM_UP_S = 3.0
PREDICTOR, START = "shipped", "default"


def workload_of(family: str, draw: int) -> Workload:
    """A workload of a family; a draw is on one processor or two, and on the other number for the next family."""
    return draw_workload(FAMILIES[family], draw, (draw + HELD_OUT.index(family)) % 2)


def left_alone(workload: Workload, seconds: float) -> list[Seen]:
    """Windows of a pool of its own that nobody touches."""
    with NativeServer(workload) as server:
        server.run_for(WARM_UP_S)
        return untouched(server, seconds)


def run_of(workload: Workload, draw: int, seconds: float, order: Sequence[str]) -> dict[str, Any]:
    """Both arms beside the untouched pool, as counts of windows; the windows of all, too."""
    apart_s = seconds / 10.0
    usual, found = left_alone(workload, apart_s), dict[str, list[Seen]]()
    for name in order:
        with NativeServer(workload) as server:
            server.run_for(WARM_UP_S)
            found[name] = ARMS[name](server, shipped(draw), seconds)
        usual += left_alone(workload, apart_s)
    return {name: counts_of(found[name], usual) for name in ARMS} | {"seen": {"untouched": usual, **found}}


def ran(family: str, draw: int, seconds: float) -> dict[str, Any]:
    """A run with its name, fit to be kept."""
    workload = workload_of(family, draw)
    order = list(ARMS)[:: 1 if (draw + HELD_OUT.index(family) // 2) % 2 else -1]
    named = {"family": family, "draw": draw, "seconds": seconds, "predictor": PREDICTOR, "start": START}
    return {**named, "cpus": workload.cpus, "made_with": made_with(), **run_of(workload, draw, seconds, order)}


def main() -> None:
    """Runs what is not kept yet and writes the report."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that pool and load end with it
    asked = {"seconds": given.seconds, "made_with": made_with()}
    kept = {(row["family"], row["draw"]): row for row in read_runs(given.runs) if asked.items() <= row.items()}
    wanted = [(family, given.first_draw + more) for more in range(given.draws) for family in HELD_OUT]
    console = terminal()
    with opened_for_more(given.runs) as out, progress_bars(console) as bars:
        for case in bars.each("workloads", [each for each in wanted if each not in kept], str):
            kept[case] = ran(*case, given.seconds)
            keep_run(kept[case], out)
    runs = [kept[case] for case in wanted]
    row = summary(runs) | {"predictor": PREDICTOR, "start": START}
    console.print(table_of([row]))
    each = [{name: run[name] for name in run if name not in ("seen", "made_with")} for run in runs]
    write_json(given.json, {"made_with": made_with(), "seconds": given.seconds, "rows": [row], "runs": each})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-draw", type=int, default=31, help="the first workload of each family")
    parser.add_argument("--draws", type=int, default=1, help="workloads of each family")
    parser.add_argument("--seconds", type=float, default=300.0, help="seconds of each arm")
    parser.add_argument("--runs", type=Path, help="file of finished workloads, so that a stopped run goes on")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
