"""The report of the demonstration: `report.json`, the same in a table, and a picture of each workload."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import regret
from poolpilot.env.tuning.loop import TuningTrace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.reasons import reasons_for
from poolpilot.pipelines.demo.phases import DemoRun
from poolpilot.pipelines.evaluate.timeline import lost_goodput, time_to_share

METHODS = ("default", "sbs", "cold", "predicted", "oracle")

SHOWN = {"predicted": "warm_start"}
"""What the table calls the run that starts with the prediction; the report keeps its name."""

FIGURES = ("goodput\n1/s", "p99\nms", "threads", "regret", "to\n95 % s", "lost on\nthe way")
"""Headings of the table's numbers."""


def report_of(seed: int, horizon_s: float, static_tuple: Core, runs: Sequence[DemoRun]) -> dict[str, Any]:
    """The whole report, fit for JSON.

    `under_others_best` of a workload is its regret, in its own sweep, under the best tuple of each other workload:
    where it is large, no tuple serves both.
    `noise` is the standard deviation of J between windows of the same tuple, averaged over the workloads. Regrets
    compare means of interleaved windows, so within the noise they may be negative.
    """
    workloads = [
        workload_report(run, static_tuple) | {"under_others_best": _under_others_best(run, runs)} for run in runs
    ]
    noise = float(np.mean([noise_of(run) for run in runs])) if runs else 0.0
    return {"seed": seed, "noise": noise, "horizon_s": horizon_s, "workloads": workloads}


def workload_report(run: DemoRun, static_tuple: Core) -> dict[str, Any]:
    """One workload: each method's tuple with what it is worth, and what the two climbs cost on the way."""
    oracle_per_s = goodput_of(run, run.oracle)
    cold = outcome_of(run, run.cold.final_tuple.core) | _on_the_way(run.cold, oracle_per_s)
    predicted = outcome_of(run, run.predicted.final_tuple.core) | _on_the_way(run.predicted, oracle_per_s)
    return {
        "name": run.stage.name,
        "oracle": outcome_of(run, run.oracle),
        "default": outcome_of(run, run.default.core),
        "sbs": outcome_of(run, static_tuple),
        "cold": cold,
        "predicted": predicted
        | {
            "abstained": run.predictions[-1].abstained,
            "one_shot": list(run.predictions[0].pool_tuple.core),
            "reasons": reasons_of(run),
        },
    }


def reasons_of(run: DemoRun) -> list[str]:
    """Why the predicted run ended on its tuple, read off the longest window under the first one."""
    final, steps = run.predicted.final_tuple, run.predicted.steps
    tried = [one.pool_tuple for one in run.predictions if one.pool_tuple.core != final.core]
    if not run.predictions[-1].abstained and final.core == steps[0].pool_tuple.core and tried:
        return [f"it was better than what was tried, {', '.join(map(str, dict.fromkeys(tried)))}"]
    if run.predictions[-1].abstained or final.core == steps[0].pool_tuple.core:
        return list(run.predictions[-1].reasons)
    seen = itertools.takewhile(lambda step: step.pool_tuple.core == steps[0].pool_tuple.core, steps)
    return list(reasons_for(max(seen, key=lambda step: step.duration_s).measured.window, final))


def outcome_of(run: DemoRun, core: Core) -> dict[str, Any]:
    """What a tuple is worth, from the windows of the comparison."""
    windows = run.judged[core]
    return {
        "tuple": list(core),
        "goodput": goodput_of(run, core),
        "p99_ms": float(np.mean([window.p99_ms or 0.0 for window in windows])),
        "threads": float(np.mean([window.threads or 0.0 for window in windows])),
        "regret": regret(value_of(run, core), value_of(run, run.oracle)),
    }


def goodput_of(run: DemoRun, core: Core) -> float:
    """Mean goodput a second of a tuple in the comparison."""
    return float(np.mean([run.objective.goodput_per_s(window) for window in run.judged[core]]))


def value_of(run: DemoRun, core: Core) -> float:
    """Mean J of a tuple in the comparison."""
    return float(np.mean([run.objective.value(window) for window in run.judged[core]]))


def noise_of(run: DemoRun) -> float:
    """Standard deviation of J between windows of one tuple, pooled over the tuples compared."""
    variances = [np.var([run.objective.value(one) for one in windows], ddof=1) for windows in run.judged.values()]
    return float(np.sqrt(np.mean(variances)))


def _under_others_best(run: DemoRun, runs: Sequence[DemoRun]) -> dict[str, float]:
    return {
        other.stage.name: run.swept.regret(run.default.with_core(other.oracle)) for other in runs if other is not run
    }


def _on_the_way(trace: TuningTrace, oracle_per_s: float) -> dict[str, Any]:
    return {
        "time_to_95_s": time_to_share(trace.steps, oracle_per_s),
        "lost": lost_goodput(trace.steps, oracle_per_s),
    }


def workload_table(report: dict[str, Any], horizon_s: float) -> Table:
    """A workload's part of the report as people read it, on 80 columns."""
    table = Table(title=report["name"], title_justify="left", box=SIMPLE_HEAD, show_edge=False, collapse_padding=True)
    for heading in ("", "configuration", *FIGURES):
        table.add_column(heading, justify="right" if heading in FIGURES else "left")
    for method in METHODS:
        row = report[method]
        table.add_row(
            SHOWN.get(method, method),
            str(PoolTuple(*row["tuple"])),
            f"{row['goodput']:.0f}",
            f"{row['p99_ms']:.1f}",
            f"{row['threads']:.0f}",
            f"{100 * row['regret']:.1f} %",
            _arrival(row, horizon_s),
            f"{row['lost']:.0f}" if "lost" in row else "",
        )
    return table


def story_of(report: dict[str, Any]) -> str:
    """A workload's part of the report in words."""
    before, after = report["default"], report["predicted"]
    if after["abstained"]:
        said = "The model abstained, so the climb started cold."
    else:
        said = f"It saw {PoolTuple(*before['tuple'])} and set {PoolTuple(*after['tuple'])}."
    change = (
        f"Goodput {before['goodput']:.0f} -> {after['goodput']:.0f} a second, p99 {before['p99_ms']:.0f} -> "
        f"{after['p99_ms']:.0f} ms, threads {before['threads']:.0f} -> {after['threads']:.0f}."
    )
    return f"{said} {change} Why: {'; '.join(after['reasons'])}.{_beyond_the_oracle(after, report['oracle'])}"


def _beyond_the_oracle(found: dict[str, Any], oracle: dict[str, Any]) -> str:
    """Why what has more goodput than the best of the sweep loses all the same, or seems to; empty where it has less."""
    if found["goodput"] <= oracle["goodput"] or found["tuple"] == oracle["tuple"]:
        return ""
    more = f" It answered more than the oracle, {found['goodput']:.0f} against {oracle['goodput']:.0f} a second"
    if found["regret"] <= 0.0:
        return f"{more}: the oracle is what did best in a sweep of few windows, before the two were compared."
    size, least = found["tuple"][0], oracle["tuple"][0]
    if size > least:
        return (
            f"{more}, and loses all the same: the objective charges for a larger pool, {size} groups against {least}."
        )
    return f"{more}, and loses all the same: the objective weighs its worse windows more than its better ones."


def foreign_story(report: dict[str, Any]) -> str:
    """In words, what each workload loses under the best tuple of another."""
    worst = {one["name"]: max(one["under_others_best"].values(), default=0.0) for one in report["workloads"]}
    losses = ", ".join(f"{name} up to {100 * max(loss, 0.0):.0f} %" for name, loss in worst.items())
    return f"Under the best configuration of another workload they lose: {losses}."


def _arrival(row: dict[str, Any], horizon_s: float) -> str:
    if "time_to_95_s" not in row:
        return ""
    arrived_s = row["time_to_95_s"]
    return f"> {horizon_s:.0f}" if arrived_s is None else f"{arrived_s:.1f}"


def draw_picture(run: DemoRun, path: Path) -> None:
    """Writes the PNG of one workload."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    goodput, size = figure.subplots(2, 1, sharex=True)
    for name, trace, colour in (("cold climb", run.cold, "tab:gray"), ("warm start", run.predicted, "tab:blue")):
        seconds, values, sizes = _series(trace)
        goodput.stairs(values, seconds, label=name, color=colour, baseline=None)
        size.stairs(sizes, seconds, label=name, color=colour, baseline=None)
    goodput.axhline(
        goodput_of(run, run.oracle), linestyle=":", color="tab:green", label=f"oracle {run.swept.oracle_tuple}"
    )
    goodput.axhline(goodput_of(run, run.default.core), linestyle=":", color="tab:red", label=f"default {run.default}")
    goodput.set(title=run.stage.name, ylabel="goodput (1/s)", ylim=(0, None))
    goodput.legend(loc="lower right", fontsize="small")
    size.set(xlabel="seconds since the workload began", ylabel="pool size (groups)", ylim=(0, None))
    figure.savefig(path, dpi=120)


def _series(trace: TuningTrace) -> tuple[list[float], list[float], list[int]]:
    """Edges of the windows (n + 1) with their goodput and pool size (n)."""
    edges = [trace.steps[0].end_s - trace.steps[0].duration_s, *(step.end_s for step in trace.steps)]
    return edges, [step.goodput_per_s for step in trace.steps], [step.pool_tuple.pool_size for step in trace.steps]
