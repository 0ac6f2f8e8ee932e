"""The picture of a workload: goodput and pool size over time, cold against predicted."""

from pathlib import Path

from poolpilot.env.tuning.loop import TuningTrace
from poolpilot.pipelines.demo.demo_report import goodput_of
from poolpilot.pipelines.demo.phases import DemoRun


def draw_picture(run: DemoRun, path: Path) -> None:
    """Writes the PNG of one workload."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    goodput, size = figure.subplots(2, 1, sharex=True)
    for name, trace, colour in (("cold climb", run.cold, "tab:gray"), ("predicted", run.predicted, "tab:blue")):
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
