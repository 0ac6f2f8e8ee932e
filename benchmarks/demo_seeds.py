"""Runs the demonstration for several seeds and writes the table of docs/results.md.

How to run: `python benchmarks/demo_seeds.py [--first 1] [--last 10] [--reports FOLDER]`. A seed whose report is in the
folder is not run again, so the work can be interrupted; `--table` only writes the table. Results to expect: a row a
workload, and whether the run keeps the promises: where the default loses more than 20 %, the prediction loses at
most 10 %, beats the static tuple, arrives five times sooner than the cold climb and loses a fifth of it on the way;
elsewhere it does no harm beyond the noise.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MATTERS = 0.2
BEGIN, END = "<!-- demo: begin -->", "<!-- demo: end -->"
HEADING = (
    "| seed | workload | oracle | default loses | static best loses | cold: loses, to 95 % s, lost | "
    "predicted: tuple, loses, to 95 % s, lost | kept |\n|---|---|---|---|---|---|---|---|\n"
)


def keeps_promise(workload: dict[str, Any], noise: float, horizon_s: float) -> bool:
    """Whether the prediction of one workload kept the promises."""
    default, predicted, cold = workload["default"], workload["predicted"], workload["cold"]
    if default["regret"] <= MATTERS:
        return bool(predicted["regret"] <= max(default["regret"], 0.0) + noise)
    arrived_s, cold_s = predicted["time_to_95_s"], cold["time_to_95_s"]
    return bool(
        predicted["regret"] <= 0.10
        and predicted["regret"]
        < workload["sbs"]["regret"] + (1e-9 if predicted["tuple"] == workload["sbs"]["tuple"] else 0)
        and arrived_s is not None
        and 5 * arrived_s <= (horizon_s if cold_s is None else cold_s)
        and predicted["lost"] <= cold["lost"] / 5
    )


def workload_row(seed: int, workload: dict[str, Any], kept: bool, horizon_s: float) -> str:
    """One line of the table."""

    def seconds(value: float | None) -> str:
        return f"> {horizon_s:.0f}" if value is None else f"{value:.1f}"

    def climbed(one: dict[str, Any]) -> str:
        return f"{100 * one['regret']:.1f} %, {seconds(one['time_to_95_s'])}, {one['lost']:.0f}"

    predicted = workload["predicted"]
    said = "abstained, " if predicted["abstained"] else ""
    return (
        f"| {seed} | {workload['name'].rsplit('-', 2)[0]} | {tuple(workload['oracle']['tuple'])} | "
        f"{100 * workload['default']['regret']:.1f} % | {100 * workload['sbs']['regret']:.1f} % | "
        f"{climbed(workload['cold'])} | {said}{tuple(predicted['tuple'])}, {climbed(predicted)} | "
        f"{'yes' if kept else 'no'} |\n"
    )


def table(reports: list[dict[str, Any]]) -> str:
    """The table of all reports with a closing sentence."""
    rows, good = "", 0
    for report in reports:
        kept = [keeps_promise(one, report["noise"], report["horizon_s"]) for one in report["workloads"]]
        good += all(kept)
        rows += "".join(
            workload_row(report["seed"], one, well, report["horizon_s"])
            for one, well in zip(report["workloads"], kept, strict=True)
        )
    return f"{HEADING}{rows}\n{good} of {len(reports)} runs keep every promise.\n"


def main() -> int:
    """Runs what is missing and rewrites the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=10)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports/demo"))
    parser.add_argument("--page", type=Path, default=Path("docs/results.md"))
    parser.add_argument("--table", action="store_true", help="Only rewrite the table from the reports there are.")
    arguments = parser.parse_args()
    arguments.reports.mkdir(parents=True, exist_ok=True)
    paths = [arguments.reports / f"seed-{seed}.json" for seed in range(arguments.first, arguments.last + 1)]
    for seed, path in enumerate(paths, start=arguments.first):
        if path.exists() or arguments.table:
            continue
        output = path.with_suffix("")
        command = ["poolpilot", "demo", "--seed", str(seed), "--output", str(output)]
        if subprocess.run([str(Path(sys.executable).parent / command[0]), *command[1:]], check=False).returncode:
            return 1
        (output / "report.json").replace(path)
    written = table([json.loads(path.read_text()) for path in paths if path.exists()])
    print(written)
    text = arguments.page.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    arguments.page.write_text(f"{before}{BEGIN}\n{written}{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
