"""Short requests beside long ones, simulated: what the best tuple saves them, what the best discipline does, and both.

How to run: `python benchmarks/priorities_short.py [--workloads 8] [--seeds 3] [--json benchmarks/reports/
priorities_short.json]` (some minutes; the same numbers every time). Families, arrangements and how the best is chosen:
`pipelines/bench/parts/short_beside_long.py`. Results to expect: a discipline saves the short ones about as much as
the best tuple does or more, at the price of some of the long ones' throughput.
"""

import argparse
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.pipelines.bench.parts.short_beside_long import (
    ARRANGEMENTS,
    SIMULATED,
    STAGED,
    Arrangement,
    MixOutcome,
    chosen,
    run,
    scenarios,
)
from poolpilot.pipelines.bench.serving.interval import Interval

SET_SEED = 5
CHOICE_SEED = 101
LEAST = 1e-6
"""Stands for none where a ratio is taken."""


def judged(scenario: Scenario, arrangements: Mapping[str, Arrangement], seeds: int) -> dict[str, MixOutcome]:
    """Each arrangement in runs it was not chosen by, means over the seeds."""
    found = {}
    for name, one in arrangements.items():
        outcomes = [run(scenario, one, CHOICE_SEED + seed) for seed in range(1, seeds + 1)]
        fields = MixOutcome.__dataclass_fields__
        found[name] = MixOutcome(**{field: fmean(getattr(outcome, field) for outcome in outcomes) for field in fields})
    return found


def family_rows(outcomes: Sequence[Mapping[str, MixOutcome]]) -> dict[str, dict[str, Any]]:
    """Of each arrangement, over the workloads: in time, and what it gives relative to the default one."""
    rows: dict[str, dict[str, Any]] = {}
    default = [one[ARRANGEMENTS[0]] for one in outcomes]
    for name in ARRANGEMENTS:
        these = [one[name] for one in outcomes]

        def over_default(field: str, these: Sequence[MixOutcome] = these) -> dict[str, float]:
            ours, theirs = ([max(getattr(one, field), LEAST) for one in side] for side in (these, default))
            return Interval.of_ratio(ours, theirs).as_dict()

        rows[name] = {
            "short_in_time": Interval.of([one.short_in_time for one in these]).as_dict(),
            "short_p99_ms": math.exp(fmean(math.log(max(one.short_p99_ms, LEAST)) for one in these)),
            "short_p99": over_default("short_p99_ms"),
            "short_goodput_per_s": fmean(one.short_goodput_per_s for one in these),
            "long_throughput": over_default("long_per_s"),
            "worth": Interval.of(
                [math.exp(one.value - first.value) for one, first in zip(these, default, strict=True)]
            ).as_dict(),
        }
    return rows


def of_family(family: str, workloads: int, seeds: int) -> dict[str, Any]:
    """Rows of a family, and how often each discipline was the best at the default tuple and at any."""
    outcomes: list[dict[str, MixOutcome]] = []
    choices = {name: Counter[str]() for name in ARRANGEMENTS[2:]}
    for scenario in scenarios(family, SET_SEED, workloads):
        arrangements = chosen(scenario, CHOICE_SEED)
        for name, counted in choices.items():
            counted[arrangements[name].discipline] += 1
        outcomes.append(judged(scenario, arrangements, seeds))
    return {"rows": family_rows(outcomes), "choices": {name: dict(counted) for name, counted in choices.items()}}


def show(family: str, found: Mapping[str, Any]) -> None:
    """Prints a family."""
    print(family, found["choices"])
    for name, row in found["rows"].items():
        print(f"  {name:32} in time {row['short_in_time']['mean']:6.1%}  p99 x{row['short_p99']['mean']:.2f}  "
              f"goodput {row['short_goodput_per_s']:.0f}/s  long x{row['long_throughput']['mean']:.2f}  "
              f"worth x{row['worth']['mean']:.2f}", flush=True)  # fmt: skip


def main() -> None:
    """Chooses, evaluates, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"workloads": arguments.workloads, "seeds": arguments.seeds, "families": {}}
    for family in (*STAGED, SIMULATED):
        result["families"][family] = of_family(family, arguments.workloads, arguments.seeds)
        show(family, result["families"][family])
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
