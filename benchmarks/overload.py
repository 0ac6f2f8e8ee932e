"""An urgent class under 1.5 times the capacity, simulated: priorities, admission and size, each alone and together.

How to run: `python benchmarks/overload.py [--seeds 5] [--json benchmarks/reports/overload.json]` (a minute; the same
numbers every time). Workload and pools are those of `poolpilot bench pool --parts overload`
(`pipelines/bench/parts/overload.py`). Results to expect: each means alone fails at something (priorities leave
processors idle, the size lets the transactions get into each other's way, admission makes the urgent ones wait in
line); with all three, the urgent class exempt from the limit and the others refused beyond a short queue, it keeps its
goodput.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from poolpilot.env.output import write_json
from poolpilot.pipelines.bench.parts.overload import CONTENDERS, REFERENCE
from poolpilot.pipelines.bench.parts.overload_simulated import measure
from poolpilot.pipelines.bench.serving.interval import Interval
from poolpilot.pipelines.bench.serving.trial import Measures

KEPT = "high_goodput_per_s"


def summary(runs: Mapping[str, list[Measures]]) -> dict[str, dict[str, dict[str, float]]]:
    """Means with intervals over the seeds, and what the urgent class keeps of its goodput without overload."""
    reference = [one[KEPT] for one in runs[REFERENCE]]
    rows = {}
    for name, seeds in runs.items():
        rows[name] = {measure_: Interval.of([one[measure_] for one in seeds]).as_dict() for measure_ in seeds[0]}
        goodput = [one[KEPT] for one in seeds]
        if min(goodput) > 0.0:
            rows[name]["high_kept"] = Interval.of_ratio(goodput, reference).as_dict()
    return rows


def main() -> None:
    """Runs everything, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    runs = {name: [measure(name, seed) for seed in range(1, arguments.seeds + 1)] for name in CONTENDERS}
    rows = summary(runs)
    for name, row in rows.items():
        kept = row.get("high_kept", {"mean": 0.0})["mean"]
        low, busy = row["low_goodput_per_s"]["mean"], row["busy_cpus"]["mean"]
        print(f"{name:36} high keeps {kept:6.1%}  low {low:6.0f}/s in time  processor {busy:5.1%} busy")
    write_json(arguments.json, {"seeds": arguments.seeds, "rows": rows})


if __name__ == "__main__":
    main()
