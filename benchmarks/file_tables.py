"""Tables of live evaluations of workload files, one report for each kind of server, and of another run beside it.

    poolpilot evaluate --workloads benchmarks/workloads/native --json build/native.json
    python benchmarks/file_tables.py build/native.json native  # or native_again, of another run, or drawn

keeps what the command has written as a report, a row for each workload and method. `python
benchmarks/evaluation_page.py` writes the tables.
"""

import argparse
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pages import percent, read_report, table
from paired_shares import Report, ahead, goodput_shares
from poolpilot.env.output import write_json
from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, DEFAULT, REFERENCE
from poolpilot.pipelines.evaluate.statistics.regret_statistics import WITHIN
from rival_tables import between

REPORTS = Path("benchmarks/reports/evaluation_files")
"""`native.json` is what was kept of the files in `benchmarks/workloads/native`, and so on."""

KINDS = {"simulated": "simulated", "native": "embedded pool", "mariadb": "MariaDB"}
LIVE_KINDS = ("native", "mariadb")
DRAWN = "drawn"
"""What is kept of files that `workload_files.py` has drawn, which are simulated too."""

CLEAN = {f"{DRAWN}_500": "500, by which nothing was chosen either"}
CHOSEN_BY = {f"{DRAWN}_271": "271, by which decision 39 was made", f"{DRAWN}_99": "99, on which settings were tried"}
LIVE = f"{DRAWN}_live"
"""What is kept of files that were drawn for the embedded pool."""

BESIDE = {**CLEAN, **CHOSEN_BY}
"""Reports of other seeds, in the words of the page; of their methods the compared ones alone are kept."""

OURS, CONSTANTS = "warm_start", "portfolio_3"
COMPARED = (OURS, CONSTANTS, "latent_bandit_3", "random_search", "warm_network")

EXACT = {
    "ppo_3": "all_action_3",
    "marwil_3": "all_action_3",
    "ppo_ratios_3": "all_action_ratios_3",
    "marwil_ratios_3": "all_action_ratios_3",
}
"""Networks that reinforcement learning has trained, and that of the exact loss with the same features; all of them
probe."""

BEFORE = r"\*"
NONE: Mapping[str, Report] = {}
NO_METHODS: Report = {"methods": {}}

KEPT = ("method", "chosen", "goodput_share", "error", "broken")
"""What is kept of a method under one workload, a line each."""

KEPT_OF_WORKLOAD = ("workload", "family", "noise", "noise_error", "censored")
"""What is kept of a workload beside its methods; reports from before have its name alone."""

IN_TIME = "in_time"
"""Share of requests within their targets; kept of the reference, which reports from before lack."""

ERRORS = 2.0
"""So many standard errors of a difference are within what measuring explains."""


def main() -> None:
    """Keeps a report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("written", type=Path, help="what the command has written")
    names = [*KINDS, *(f"{kind}_again" for kind in KINDS), DRAWN, LIVE, *BESIDE]
    parser.add_argument("name", choices=names, help="what it is kept as")
    given = parser.parse_args()
    report = json.loads(given.written.read_text())
    if given.name in BESIDE:
        report = only_compared(report)
    write_json(REPORTS / f"{given.name}.json", rounded({**report, "results": kept(report["results"])}))


def kept(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is kept of every workload and of the methods under it."""
    return [
        {
            **{name: result[name] for name in KEPT_OF_WORKLOAD},
            IN_TIME: next(run[IN_TIME] for run in result["runs"] if run["method"] == REFERENCE),
            "runs": [{name: run[name] for name in KEPT} for run in result["runs"]],
        }
        for result in results
    ]


def only_compared(report: Report) -> dict[str, Any]:
    """A report without the methods that nothing is said of."""
    names = (REFERENCE, DEFAULT, AGAIN, *COMPARED)
    results = [
        {**result, "runs": [run for run in result["runs"] if run["method"] in names]} for result in report["results"]
    ]
    methods = {name: row for name, row in report["methods"].items() if name in names}
    return {**report, "methods": methods, "results": results}


def rounded(value: Any) -> Any:
    """The same with four digits behind the point, which is more than a live measurement knows."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


def files_section() -> str:
    """What every method is worth on each kind of server, the least regret over all kinds first, and two runs beside."""
    reports = {kind: found for kind in KINDS if (found := read_report(REPORTS / f"{kind}.json")) is not None}
    again = {kind: found for kind in reports if (found := read_report(REPORTS / f"{kind}_again.json")) is not None}
    parts = [counted(reports), methods_table(reports, again), costs_table(reports)]
    if live := {kind: report for kind, report in reports.items() if kind in LIVE_KINDS}:
        parts.append(pairs_table(live))
    if again:
        parts.append(in_two_runs(reports, again))
    return "\n" + "\n".join(parts) + "\n"


def counted(reports: Mapping[str, Report]) -> str:
    """How many workloads there are of each kind, censored and with long classes, and the noise floor."""
    lines = []
    for kind, report in reports.items():
        noise, names = report["noise"], [f"`{name}`" for name in report["censored"]]
        censored = f"{len(names)} censored" + (f" ({', '.join(names)})" if names else "")
        long = report["methods"][DEFAULT]["with_long_classes"]
        floor = (
            f"J of the default scored again less J of it: {100 * noise['mean']:+.1f} % "
            f"({between(noise['low'], noise['high'], '+')}; largest {percent(noise['largest'])})"
        )
        lines.append(f"* {KINDS[kind]}: {report['workloads']} workloads, {censored}, {long} with long classes; {floor}")
    return "\n".join(lines) + "\n"


def by_regret(reports: Iterable[Report]) -> list[str]:
    """All methods, the least regret over all kinds of servers first."""
    listed = list(reports)

    def mean_regret(name: str) -> float:
        return fmean(report["methods"][name]["regret_mean"] for report in listed if name in report["methods"])

    methods = {name for report in listed for name in report["methods"]} - {REFERENCE}
    return sorted(methods, key=lambda one: (mean_regret(one), one))


def methods_table(reports: Mapping[str, Report], before: Mapping[str, Report] = NONE) -> str:
    """Goodput, regret and unsafe windows of every method; with a star those that a run before has measured last."""
    heads = ["method", *(f"{KINDS[kind]}: {what}" for kind in reports for what in ("goodput", "regret", "unsafe"))]
    known = [{**before.get(kind, NO_METHODS)["methods"], **report["methods"]} for kind, report in reports.items()]
    lines = []
    for name in by_regret({"methods": each} for each in known):
        line = [f"`{name}`"]
        for methods, report in zip(known, reports.values(), strict=True):
            goodput, *others = cells_of(methods.get(name))
            line += [goodput + BEFORE * (name in methods and name not in report["methods"]), *others]
        lines.append(line)
    return table(heads, lines)


def pairs_table(reports: Mapping[str, Report]) -> str:
    """What every method has more than constants and than the network of the exact loss, workload by workload."""
    methods = [
        name for name in by_regret(reports.values()) if all(name in each["methods"] for each in reports.values())
    ]
    groups = {**{KINDS[kind]: [report] for kind, report in reports.items()}, "both": list(reports.values())}
    rivals = (f"`{CONSTANTS}`", "the network of the exact loss")
    heads = ["method", *(f"than {rival}: {where}" for rival in rivals for where in groups)]
    lines = [
        [
            f"`{name}`",
            *(more_than(rival, found, name) for rival in (CONSTANTS, EXACT.get(name)) for found in groups.values()),
        ]
        for name in methods
        if name not in (CONSTANTS, AGAIN)
    ]
    return table(heads, lines)


def more_than(rival: str | None, reports: Sequence[Report], name: str) -> str:
    """How much more a method has than a rival; a dash where it has none."""
    return "-" if rival is None else ahead(reports, name, rival)


def costs_table(reports: Mapping[str, Report]) -> str:
    """What else every method's choice brings on each kind of server, and what finding it cost."""
    heads = (
        "server",
        "method",
        "p99 of short classes",
        "p99 of long ones",
        "long ones keep",
        "> 5 % below the default",
        "threads",
        "regret while trying",
        "mean error",
    )
    lines = [
        [KINDS[kind], f"`{name}`", *cost_cells(report, name)]
        for kind, report in reports.items()
        for name in by_regret(reports.values())
        if name in report["methods"]
    ]
    return table(heads, lines)


def cost_cells(report: Report, name: str) -> list[str]:
    """The figures of one method; dashes for what no workload has."""
    row = report["methods"][name]
    ratios = (row[key] for key in ("p99_ratio_short", "p99_ratio_long", "long_share"))
    return [
        *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        below_default(report, name),
        "-" if row["threads"] is None else f"{row['threads']:.0f}",
        percent(row["trying_regret"]),
        percent(row["error_mean"]),
    ]


def below_default(report: Report, name: str) -> str:
    """On how many workloads a method's choice has a goodput more than 5 % below the default's."""
    shares = goodput_shares(report)
    below = sum(share[name] < (1.0 - WITHIN) * share[DEFAULT] for share in shares)
    return f"{below} of {len(shares)}"


def cells_of(row: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Goodput over the reference's, regret with its interval, share of unsafe windows on the way; dashes for none."""
    if row is None:
        return "-", "-", "-"
    low, high = row["regret_mean_low"], row["regret_mean_high"]
    interval = "" if low is None else f" ({100 * low:.1f}..{100 * high:.1f})"
    return f"{row['goodput_share_mean']:.2f}", f"{percent(row['regret_mean'])}{interval}", percent(row.get("unsafe"))


def in_two_runs(reports: Mapping[str, Report], again: Mapping[str, Report]) -> str:
    """Mean regrets of every method in both runs, and the goodput of every tuple that both have scored."""
    heads = (
        "server",
        "methods: intervals that overlap",
        "largest difference of a mean regret, in points",
        "tuples scored in both runs",
        "within their errors",
        "median difference of a goodput",
    )
    lines = []
    for kind, second in again.items():
        first = reports[kind]["methods"]
        both = [(first[name], row) for name, row in second["methods"].items() if name in first and name != REFERENCE]
        both = [pair for pair in both if all(one["regret_mean_low"] is not None for one in pair)]
        agree = sum(overlap(*pair) for pair in both)
        apart = max(abs(one["regret_mean"] - other["regret_mean"]) for one, other in both)
        scored = scored_twice(reports[kind], second)
        within = sum(abs(difference) <= ERRORS * error for difference, error in scored)
        middle = percent(math.expm1(median(abs(difference) for difference, _ in scored))) if scored else "-"
        cells = (f"{agree} of {len(both)}", f"{100 * apart:.1f}", len(scored), within, middle)
        lines.append((KINDS[kind], *map(str, cells)))
    return table(heads, lines)


def scored_twice(first: Report, second: Report) -> list[tuple[float, float]]:
    """How far the logarithm of a tuple's goodput over the reference's differs, and that difference's standard error.

    Errors are of J, which is a logarithm too; of a tuple that answers nobody in time there is none.
    """
    one, other = of_tuples(first), of_tuples(second)
    return [
        (math.log(other[key][0] / one[key][0]), math.hypot(one[key][1], other[key][1]))
        for key in sorted(one.keys() & other.keys())
        if one[key][1] + other[key][1] > 0.0 and min(one[key][0], other[key][0]) > 0.0
    ]


def of_tuples(report: Report) -> dict[tuple[str, tuple[int, ...]], tuple[float, float]]:
    """Goodput over the reference's and its standard error, of every workload and tuple that a method has named."""
    return {
        (result["workload"], tuple(run["chosen"])): (run["goodput_share"], run["error"])
        for result in report["results"]
        for run in result["runs"]
        if run["method"] != AGAIN
    }


def overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the intervals of two mean regrets have something in common."""
    above, below = (
        one["regret_mean_low"] > other["regret_mean_high"],
        one["regret_mean_high"] < other["regret_mean_low"],
    )
    return not (above or below)


if __name__ == "__main__":
    main()
