"""Tables of evaluations of workload files, a report for each kind of server, and of another run beside it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from page_tables.paired_shares import Report, ahead
from page_tables.part import Part, between, percent, table
from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, DEFAULT, REFERENCE

KINDS = {"simulated": "simulated", "native": "embedded pool", "mariadb": "MariaDB"}
LIVE_KINDS = ("native", "mariadb")
OURS, CONSTANTS = "warm_start", "portfolio_3"

SHOWN = (
    OURS,
    CONSTANTS,
    "latent_bandit_3",
    "warm_network",
    "refiner_3",
    "all_action_3",
    "ppo_3",
    "marwil_3",
    "trees_3",
    "nearest_3",
    "gp_ucb",
    "random_search",
    "cold",
    "wait_ratio",
    "constant_best",
    "advise",
    DEFAULT,
)
"""The methods of the page; the reports have more, and every number of trials."""

BEFORE = r"\*"
NONE: Mapping[str, Report] = {}
NO_METHODS: Report = {"methods": {}}

ERRORS = 2.0
"""So many standard errors of a difference are within what measuring explains."""


def files_section(*reports: Report) -> str:
    """What the methods are worth on each kind of server, the least regret over all kinds first."""
    last, again = by_kind(reports)
    return f"{counted(last)}\n{methods_table(last, again)}"


def two_runs_table(*reports: Report) -> str:
    """How far two runs of the same files agree."""
    return in_two_runs(*by_kind(reports))


def by_kind(reports: Sequence[Report]) -> tuple[dict[str, Report], dict[str, Report]]:
    """The reports of the last run, and of the one before."""
    last, again = reports[: len(KINDS)], reports[len(KINDS) :]
    return dict(zip(KINDS, last, strict=True)), dict(zip(LIVE_KINDS, again, strict=True))


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
    """Goodput and unsafe windows of every method; with a star those that only the run before has measured."""
    live = [report for kind, report in reports.items() if kind in LIVE_KINDS]
    heads = ["method", *(f"{KINDS[kind]}: {what}" for kind in reports for what in ("goodput", "unsafe"))]
    known = [{**before.get(kind, NO_METHODS)["methods"], **report["methods"]} for kind, report in reports.items()]
    lines = []
    for name in by_regret({"methods": each} for each in known):
        if name not in SHOWN:
            continue
        line = [f"`{name}`"]
        for methods, report in zip(known, reports.values(), strict=True):
            goodput, unsafe = cells_of(methods.get(name))
            line += [goodput + BEFORE * (name in methods and name not in report["methods"]), unsafe]
        lines.append([*line, more_than_constants(live, name)])
    return table([*heads, "more than three constants, live"], lines)


def more_than_constants(reports: Sequence[Report], name: str) -> str:
    """What a method has more than three constants, workload by workload; a dash where one of the kinds lacks it."""
    known = reports and all({name, CONSTANTS} <= report["methods"].keys() for report in reports)
    return ahead(reports, name, CONSTANTS) if known and name != CONSTANTS else "-"


def cells_of(row: Mapping[str, Any] | None) -> tuple[str, str]:
    """Goodput over the reference's and the share of unsafe windows on the way; dashes for none."""
    return ("-", "-") if row is None else (f"{row['goodput_share_mean']:.2f}", percent(row.get("unsafe"), 0))


def in_two_runs(reports: Mapping[str, Report], again: Mapping[str, Report]) -> str:
    """The goodput of every configuration that both runs have scored, and of two methods in each run."""
    heads = ("server", "scored in both runs", "within two standard errors", "median difference of a goodput")
    lines = []
    for kind, second in again.items():
        scored = scored_twice(reports[kind], second)
        within = sum(abs(difference) <= ERRORS * error for difference, error in scored)
        middle = percent(math.expm1(median(abs(difference) for difference, _ in scored))) if scored else "-"
        both = (
            ", ".join(cells_of(each["methods"].get(name))[0] for each in (reports[kind], second))
            for name in (OURS, CONSTANTS)
        )
        lines.append((KINDS[kind], str(len(scored)), str(within), middle, *both))
    return table((*heads, *(f"`{name}`: last, before" for name in (OURS, CONSTANTS))), lines)


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


PAGE = "docs/results-evaluation.md"
LAST = tuple(f"evaluation_files/{kind}" for kind in KINDS)
AGAIN_RUN = tuple(f"evaluation_files/{kind}_again" for kind in LIVE_KINDS)
PARTS = (
    Part(PAGE, "files", LAST + AGAIN_RUN, files_section),
    Part(PAGE, "files-again", LAST + AGAIN_RUN, two_runs_table),
)
