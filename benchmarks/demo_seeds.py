"""Runs the demonstration for several seeds and keeps their reports for docs/results.md.

How to run: `python benchmarks/demo_seeds.py [--first 1] [--last 10] [--reports FOLDER]`, then
`python benchmarks/pages.py`. A seed whose report is in the folder is not run again, so the work can be
interrupted. Results to expect: one JSON report a seed, about four minutes each.
"""

import argparse
import subprocess
import sys
from pathlib import Path

REPORTS = Path("benchmarks/reports/demo")


def main() -> int:
    """Runs what is missing; returns 1 when a run fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--last", type=int, default=10)
    parser.add_argument("--reports", type=Path, default=REPORTS)
    arguments = parser.parse_args()
    arguments.reports.mkdir(parents=True, exist_ok=True)
    for seed in range(arguments.first, arguments.last + 1):
        report = arguments.reports / f"seed-{seed}.json"
        if report.exists():
            continue
        output = Path("demo-out") / f"seed-{seed}"
        command = [str(Path(sys.executable).parent / "poolpilot"), "demo", "--seed", str(seed), "--output", str(output)]
        if subprocess.run(command, check=False).returncode:
            return 1
        (output / "report.json").replace(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
