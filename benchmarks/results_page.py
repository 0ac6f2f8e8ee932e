"""Writes the tables of docs/results.md, and the sample and figures of README.md, from what other benchmarks leave.

How to run: `python benchmarks/results_page.py [--reports benchmarks/reports] [--page docs/results.md]
[--readme README.md]` after `poolpilot evaluate --json benchmarks/reports/evaluation.json`, `instruments.py`, `hold.py`
(`--json` likewise), `poolpilot demo --json benchmarks/reports/sample.json` and `demo_seeds.py`. Results to expect: the
parts of the pages between their markers are written anew; a part without a file stays as it is.
"""

import argparse
import io
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from rich.console import Console

from pages import read_report, replaced
from poolpilot.pipelines.demo.demo_report import story_of, workload_table
from poolpilot.pipelines.demo.demo_settings import DemoSettings
from poolpilot.pipelines.evaluate.statistics.regret_statistics import METHOD_NAMES

MATTERS = 0.2
LITTLE = 0.1
JUDGED_WINDOWS = DemoSettings().judged_repeats
SAMPLE = "page_faults"
WIDTH = 120
HEADING = (
    "| seed | workload | oracle | under another's best loses | default loses | static best loses | "
    "cold: loses, to 95 % s, lost | warm start: tuple, loses, to 95 % s, lost | kept |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)


def keeps_promise(workload: dict[str, Any], noise: float, horizon_s: float, tie: float = 0.0) -> bool:
    """Whether the prediction of one workload kept the promises; `tie` is the regret by which equals may differ."""
    default, predicted, cold = workload["default"], workload["predicted"], workload["cold"]
    if default["regret"] <= MATTERS:
        return bool(predicted["regret"] <= max(default["regret"], 0.0) + noise)
    arrived_s, cold_s = predicted["time_to_95_s"], cold["time_to_95_s"]
    same = predicted["tuple"] == workload["sbs"]["tuple"]
    return bool(
        within(workload)
        and (same or predicted["regret"] < workload["sbs"]["regret"] + tie)
        and arrived_s is not None
        and 5 * arrived_s <= (horizon_s if cold_s is None else cold_s)
        and predicted["lost"] <= cold["lost"] / 5
    )


def matters(report: dict[str, Any]) -> bool:
    """Whether there are two workloads of which each loses much under the best tuple of the other."""
    losses = {one["name"]: one["under_others_best"] for one in report["workloads"]}
    return any(
        min(losses[first][second], losses[second][first]) >= MATTERS
        for first, second in itertools.combinations(losses, 2)
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
        f"{100 * max(workload['under_others_best'].values()):.0f} % | "
        f"{100 * workload['default']['regret']:.1f} % | {100 * workload['sbs']['regret']:.1f} % | "
        f"{climbed(workload['cold'])} | {said}{tuple(predicted['tuple'])}, {climbed(predicted)} | "
        f"{'yes' if kept else 'no'} |\n"
    )


def demo_section(reports: list[dict[str, Any]]) -> str:
    """The table of all seeds with what it comes to."""
    rows = ""
    for report in reports:
        horizon_s = report["horizon_s"]
        for workload in report["workloads"]:
            kept = keeps_promise(workload, report["noise"], horizon_s)
            rows += workload_row(report["seed"], workload, kept, horizon_s)
    return f"{HEADING}{rows}\n{demo_summary(reports)}\n\n{promises_summary(reports)}\n"


def promises_summary(reports: list[dict[str, Any]]) -> str:
    """How many runs keep every promise, exactly and within the error of the comparison."""
    good = tied = 0
    for report in reports:
        workloads, noise, horizon_s = report["workloads"], report["noise"], report["horizon_s"]
        error = noise * math.sqrt(2 / JUDGED_WINDOWS)
        good += matters(report) and all(keeps_promise(one, noise, horizon_s) for one in workloads)
        tied += matters(report) and all(keeps_promise(one, noise, horizon_s, error) for one in workloads)
    return (
        f"{good} of {len(reports)} runs keep every promise; {tied} where a prediction counts as no worse than the "
        "static best when the two differ by less than the standard error of the comparison."
    )


def demo_summary(reports: list[dict[str, Any]]) -> str:
    """What the default, the static best, the cold climb and the prediction lost where the default loses much."""
    matter = [one for report in reports for one in report["workloads"] if one["default"]["regret"] > MATTERS]
    count = sum(len(report["workloads"]) for report in reports)
    loses = {
        method: f"{100 * median(one[method]['regret'] for one in matter):.1f} %"
        for method in ("default", "sbs", "cold", "predicted")
    }
    arrived_s = median(math.inf if (at_s := one["predicted"]["time_to_95_s"]) is None else at_s for one in matter)
    lost = sum(one["predicted"]["lost"] / one["oracle"]["goodput"] for one in matter)
    lost_cold = sum(one["cold"]["lost"] / one["oracle"]["goodput"] for one in matter)
    return (
        f"{len(reports)} demonstrations, {count} live workloads of families that the model was not trained on. On the "
        f"{len(matter)} where the stock default loses more than {100 * MATTERS:.0f} % of the best tuple's objective, "
        f"in the median the default loses {loses['default']}, the best static tuple {loses['sbs']}, a cold climb at "
        f"its end {loses['cold']}, the prediction {loses['predicted']}; {sum(within(one) for one in matter)} "
        f"predictions lose at most {100 * LITTLE:.0f} %. In the median a prediction reached 95 % of the best goodput "
        f"after {arrived_s:.2f} s; on the way the predictions lost {100 * lost / lost_cold:.0f} % of what the cold "
        "climbs lost."
    )


def figures_section(reports: list[dict[str, Any]]) -> str:
    """The figures of the README."""
    return fill(f"{demo_summary(reports)} {promises_summary(reports)}", WIDTH) + "\n"


def sample_section(report: dict[str, Any]) -> str:
    """What the demonstration prints for one of its workloads."""
    (workload,) = (one for one in report["workloads"] if one["name"].startswith(f"{SAMPLE}-"))
    console = Console(width=WIDTH, file=io.StringIO(), record=True)
    console.print(workload_table(workload, report["horizon_s"]))
    console.print(story_of(workload))
    lines = "\n".join(line.rstrip() for line in console.export_text().splitlines())
    return f"```\n{lines}\n```\n"


def within(workload: dict[str, Any]) -> bool:
    """Whether the prediction loses little."""
    return bool(workload["predicted"]["regret"] <= LITTLE)


def evaluation_section(evaluation: dict[str, Any]) -> str:
    """The methods on held-out workloads, least median regret first, and which workloads nothing is judged on."""
    rows = "| method | median | p90 | within 5 % | seen | difference to SBS (95 % interval) |\n"
    rows += "|---|---|---|---|---|---|\n"
    methods = evaluation["methods"]
    for name in sorted(methods, key=lambda one: methods[one]["regret_median"]):
        one, paired = methods[name], evaluation["paired_vs_sbs"].get(name)
        difference = ""
        if paired is not None:
            low, high = paired["low"], paired["high"]
            difference = f"{100 * paired['mean_difference']:+.1f} ({100 * low:+.1f} .. {100 * high:+.1f})"
        regrets = [f"{100 * one[key]:.1f} %" for key in ("regret_median", "regret_p90")]
        shares = [f"{100 * one[key]:.0f} %" for key in ("within_5pct", "judged_by_seen")]
        rows += f"| {' | '.join([METHOD_NAMES.get(name, name), *regrets, *shares, difference])} |\n"
    censored = "; ".join(f"`{name}`: {reason}" for name, reason in evaluation["censored"].items()) or "none"
    return f"{rows}\n{evaluation['workloads']} workloads. Left out: {censored}.\n"


def instruments_section(result: dict[str, Any]) -> str:
    """The cost of the instruments."""
    return (
        f"Throughput with instruments over without, {result['pairs']} interleaved pairs of requests of 20 us: "
        f"{result['ratio_on_off']:.3f} (95 % interval {result['low']:.3f} .. {result['high']:.3f}).\n"
    )


def hold_section(result: dict[str, Any]) -> str:
    """The minute of 1,024 connections."""
    rows = "".join(f"| {name.replace('_', ' ')} | {value} |\n" for name, value in result.items())
    return f"| what | count |\n|---|---|\n{rows}"


def main() -> None:
    """Writes every part whose file there is anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/results.md"))
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    arguments = parser.parse_args()
    sections: dict[str, tuple[Path, Callable[[Any], str]]] = {
        "evaluation": (arguments.page, evaluation_section),
        "instruments": (arguments.page, instruments_section),
        "hold": (arguments.page, hold_section),
    }
    for name, (page, section) in sections.items():
        report = read_report(arguments.reports / f"{name}.json")
        if report is not None:
            page.write_text(replaced(page.read_text(), name, section(report)))
    demos = [read_report(path) for path in (arguments.reports / "demo").glob("seed-*.json")]
    if demos:
        demos.sort(key=lambda one: int(one["seed"]))
        arguments.page.write_text(replaced(arguments.page.read_text(), "demo", demo_section(demos)))
        readme = replaced(arguments.readme.read_text(), "figures", figures_section(demos))
        arguments.readme.write_text(readme)
    sample = read_report(arguments.reports / "sample.json")
    if sample is not None:
        arguments.readme.write_text(replaced(arguments.readme.read_text(), "sample", sample_section(sample)))


if __name__ == "__main__":
    main()
