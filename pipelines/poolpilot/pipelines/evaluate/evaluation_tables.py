"""How an evaluation is shown: a table for people, plots for the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table

from poolpilot.pipelines.evaluate.evaluation import SBS, Evaluation
from poolpilot.pipelines.evaluate.statistics.load_level import LEVELS
from poolpilot.pipelines.evaluate.statistics.outcomes import Outcome
from poolpilot.pipelines.evaluate.statistics.regret_statistics import METHOD_NAMES, PairedDifference, risk_coverage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = {
    "median": "regret_median",
    "p90": "regret_p90",
    "within 5 %": "within_5pct",
    "no advice": "abstained",
    "gap closed": "gap_closed",
    "seen": "judged_by_seen",
}
"""Statistics that the table shows."""


def evaluation_table(evaluation: Evaluation) -> Group:
    """One row per method, the least median regret first; below it by load, then what nothing is judged on."""
    censored = (f"{name} is left out: {reason}" for name, reason in evaluation.censored.items())
    by_load = [_load_table(evaluation)] if evaluation.medians_by_load() else []
    return Group(_methods_table(evaluation), *by_load, *censored)


def _methods_table(evaluation: Evaluation) -> Table:
    families = len(evaluation.medians_by("family"))
    table = _table(
        f"{evaluation.number_of_workloads} workloads of {families} families, split {evaluation.split}; in %",
        "regret is the share lost against the best configuration, measured again, by windows that no method has seen; "
        "seen: choices whose only window the method has seen",
    )
    for heading in (*HEADINGS, "to SBS"):
        table.add_column(heading, justify="right")
    table.add_column("95 % interval", justify="right", no_wrap=True)
    against = evaluation.paired_vs(SBS)
    methods = evaluation.methods()
    for name in sorted(methods, key=lambda one: methods[one]["regret_median"] or 0.0):
        shown = [_percent(methods[name][statistic]) for statistic in HEADINGS.values()]
        table.add_row(METHOD_NAMES.get(name, name), *shown, *_difference(against.get(name)))
    return table


def _load_table(evaluation: Evaluation) -> Table:
    medians = evaluation.medians_by_load()
    table = _table(
        "Median regret by how much the workload asks of its server; in %",
        "by a window of the default; full: a queue, all connections waiting, or processors over 65 % busy; "
        "light: under 35 %",
    )
    for level in LEVELS:
        table.add_column(f"{level} ({evaluation.workloads_under(level)})", justify="right")
    for name in evaluation.outcomes:
        table.add_row(METHOD_NAMES.get(name, name), *(_percent(medians.get(level, {}).get(name)) for level in LEVELS))
    return table


def _table(title: str, caption: str) -> Table:
    """A table of methods, without columns for what is told of them."""
    table = Table(
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("method", no_wrap=True)
    return table


def regret_figure(evaluation: Evaluation) -> "Figure":
    """Share of the cases within each regret, one step line per method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, outcomes in evaluation.outcomes.items():
        regrets = np.sort([outcome.regret for outcome in outcomes])
        axes.step(
            100 * regrets,
            np.arange(1, len(regrets) + 1) / len(regrets),
            where="post",
            label=METHOD_NAMES.get(name, name),
        )
    axes.set(xlabel="regret (%)", ylabel="share of workloads and starts", ylim=(0, 1))
    axes.legend()
    return figure


def risk_coverage_figure(outcomes: Sequence[Outcome]) -> "Figure":
    """Mean regret of the advice that is kept when the most doubtful is left out."""
    from matplotlib.figure import Figure

    coverage, risk = risk_coverage(outcomes)
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(100 * coverage, 100 * risk, marker=".")
    axes.set(xlabel="advice kept, least doubtful first (%)", ylabel="mean regret (%)", xlim=(0, 100))
    return figure


def curve_figure(points: Sequence[tuple[int, float]], quantity: str) -> "Figure":
    """A quantity over the epochs or iterations of training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([step for step, _ in points], [value for _, value in points])
    axes.set(xlabel="epoch or iteration", ylabel=quantity)
    return figure


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _difference(difference: PairedDifference | None) -> tuple[str, str]:
    if difference is None:
        return "", ""
    mean = f"{100 * difference.mean_difference:+.1f}"
    if difference.low is None or difference.high is None:
        return mean, "few families"
    return mean, f"{100 * difference.low:+.1f}..{100 * difference.high:+.1f}"
