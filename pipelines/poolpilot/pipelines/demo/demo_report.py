"""The report of the demonstration: `report.json`, the same in a table and in words."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.tuning.loop import TuningTrace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.reasons import reasons_for
from poolpilot.pipelines.demo.phases import DemoRun
from poolpilot.pipelines.evaluate.timeline import lost_goodput, time_to_share

METHODS = {
    "default": "default",
    "sbs": "static best",
    "cold": "cold climb",
    "warm_start": "warm start",
    "best": "best measured",
}
"""Rows by their names in the report, and what the table calls them."""

FIGURES = ("goodput\n1/s", "p99\nms", "threads", "loses to\nthe best", "to 95 %\ns")
"""Headings of the table's numbers."""


def report_of(seed: int, static_tuple: Core, runs: Sequence[DemoRun]) -> dict[str, Any]:
    """The whole report, fit for JSON.

    `under_others_best` of a workload is its regret, in its own sweep, under the best configuration of each other
    workload: where it is large, no configuration serves both. `noise` is the standard deviation of J between windows
    of one configuration, averaged over the workloads.
    """
    parts = [workload_report(run, static_tuple) | {"under_others_best": _under_others_best(run, runs)} for run in runs]
    return {"seed": seed, "noise": float(np.mean([run.compared.noise for run in runs])), "workloads": parts}


def workload_report(run: DemoRun, static_tuple: Core) -> dict[str, Any]:
    """One workload: each method's configuration with what it is worth, and what the two climbs cost on the way."""
    best_per_s = run.compared.goodput_per_s(run.compared.best)
    said = {"abstained": run.predictions[-1].abstained, "reasons": reasons_of(run)}
    return {
        "name": run.stage.name,
        "horizon_s": run.horizon_s,
        "rounds": len(run.compared.rounds),
        "windows_left": run.windows_left,
        "default": outcome_of(run, run.default.core),
        "sbs": outcome_of(run, static_tuple),
        "cold": outcome_of(run, run.cold.final_tuple.core) | _on_the_way(run.cold, best_per_s),
        "warm_start": outcome_of(run, run.warm.final_tuple.core) | _on_the_way(run.warm, best_per_s) | said,
        "best": outcome_of(run, run.compared.best),
    }


def reasons_of(run: DemoRun) -> list[str]:
    """Why the warm start ended where it did, read off the longest window under the first configuration."""
    final, steps = run.warm.final_tuple, run.warm.steps
    tried = [one.pool_tuple for one in run.predictions if one.pool_tuple.core != final.core]
    if not run.predictions[-1].abstained and final.core == steps[0].pool_tuple.core and tried:
        return [f"it was better than what was tried, {', '.join(map(str, dict.fromkeys(tried)))}"]
    if run.predictions[-1].abstained or final.core == steps[0].pool_tuple.core:
        return list(run.predictions[-1].reasons)
    seen = itertools.takewhile(lambda step: step.pool_tuple.core == steps[0].pool_tuple.core, steps)
    return list(reasons_for(max(seen, key=lambda step: step.duration_s).measured.window, final))


def outcome_of(run: DemoRun, core: Core) -> dict[str, Any]:
    """What a configuration is worth, from the windows of the comparison."""
    windows = run.compared.windows(core)
    return {
        "tuple": list(core),
        "goodput": run.compared.goodput_per_s(core),
        "p99_ms": float(np.mean([window.p99_ms or 0.0 for window in windows])),
        "threads": float(np.mean([window.threads or 0.0 for window in windows])),
        "regret": run.compared.regret(core),
        "error": run.compared.error(core),
        "told_apart": run.compared.told_apart(core),
    }


def _under_others_best(run: DemoRun, runs: Sequence[DemoRun]) -> dict[str, float]:
    others = {other.stage.name: run.default.with_core(other.compared.best) for other in runs if other is not run}
    return {name: max(run.swept.regret(best), 0.0) for name, best in others.items()}


def _on_the_way(trace: TuningTrace, best_per_s: float) -> dict[str, Any]:
    return {
        "time_to_95_s": time_to_share(trace.steps, best_per_s),
        "lost": lost_goodput(trace.steps, best_per_s),
    }


def workload_table(report: dict[str, Any]) -> Table:
    """A workload's part of the report as people read it, on 80 columns."""
    table = Table(title=report["name"], title_justify="left", box=SIMPLE_HEAD, show_edge=False, padding=0)
    for heading in ("", "configuration", *FIGURES):
        table.add_column(heading, justify="right" if heading in FIGURES else "left", no_wrap=heading not in FIGURES)
    for method, shown in METHODS.items():
        row = report[method]
        table.add_row(
            shown,
            str(PoolTuple(*row["tuple"])),
            f"{row['goodput']:.0f}",
            f"{row['p99_ms']:.1f}",
            f"{row['threads']:.0f}",
            "" if method == "best" else loss_of(row),
            _arrival(row, report["horizon_s"]),
        )
    return table


def loss_of(row: dict[str, Any]) -> str:
    """What a row loses to the best that was measured, or that the measurement does not tell the two apart."""
    if row["regret"] == 0.0:
        return "0 %"
    return f"{100 * row['regret']:.1f} %" if row["told_apart"] else "not told apart"


def _arrival(row: dict[str, Any], horizon_s: float) -> str:
    if "time_to_95_s" not in row:
        return ""
    arrived_s = row["time_to_95_s"]
    return f"> {horizon_s:.0f}" if arrived_s is None else f"{arrived_s:.1f}"


def story_of(report: dict[str, Any]) -> str:
    """A workload's part of the report in words."""
    before, after = report["default"], report["warm_start"]
    if after["tuple"] == before["tuple"]:
        return f"{_left(before)} Why: {'; '.join(after['reasons'])}.{_shortened(report)}"
    said = f"It set {PoolTuple(*after['tuple'])} in place of the default {PoolTuple(*before['tuple'])}."
    if after["abstained"]:
        said = f"It gave no advice, so it climbed from the default to {PoolTuple(*after['tuple'])}."
    change = (
        f"Goodput {before['goodput']:.0f} -> {after['goodput']:.0f} a second, p99 {before['p99_ms']:.0f} -> "
        f"{after['p99_ms']:.0f} ms, threads {before['threads']:.0f} -> {after['threads']:.0f}."
    )
    why = f"Why: {'; '.join(after['reasons'])}."
    return f"{said} {change} {why}{_for_threads(after, report['best'])}{_shortened(report)}"


def _left(default: dict[str, Any]) -> str:
    if default["regret"] == 0.0:
        return "It left the default, which is best here."
    if not default["told_apart"]:
        return "It left the default, and the measurement does not tell the best apart from it."
    return f"It left the default, which loses {100 * default['regret']:.1f} % here."


def _for_threads(found: dict[str, Any], best: dict[str, Any]) -> str:
    """Why more goodput than the best loses all the same: the objective charges for groups; else empty."""
    size, least = found["tuple"][0], best["tuple"][0]
    if not found["told_apart"] or found["goodput"] <= best["goodput"] or size <= least:
        return ""
    return f" It answers more than the best and loses by its size: the objective charges for {size} groups."


def _shortened(report: dict[str, Any]) -> str:
    """That there was no time for all of it; empty where there was."""
    if not report["windows_left"]:
        return ""
    return f" Time was short: the sweep lacks {report['windows_left']} windows."


def foreign_story(report: dict[str, Any]) -> str:
    """In words, what each workload loses under the best configuration of another."""
    worst = {one["name"]: max(one["under_others_best"].values(), default=0.0) for one in report["workloads"]}
    losses = ", ".join(f"{name} up to {100 * loss:.0f} %" for name, loss in worst.items())
    return f"Under the best configuration of another workload they lose: {losses}."
