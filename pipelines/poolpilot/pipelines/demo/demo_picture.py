"""The picture of a workload of the demonstration."""

from pathlib import Path

from poolpilot.env.tuning.loop import TuningTrace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.demo.phases import DemoRun


def draw_picture(run: DemoRun, path: Path) -> None:
    """Writes the PNG: goodput and pool size of both climbs over time, beside the default and the best measured."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    goodput, size = figure.subplots(2, 1, sharex=True)
    for name, trace, colour in (("cold climb", run.cold, "tab:gray"), ("warm start", run.warm, "tab:blue")):
        seconds, values, sizes = _series(trace)
        goodput.stairs(values, seconds, label=name, color=colour, baseline=None)
        size.stairs(sizes, seconds, label=name, color=colour, baseline=None)
    lines = (("best measured", run.compared.best, "tab:green"), ("default", run.default.core, "tab:red"))
    for name, core, colour in lines:
        level, label = run.compared.goodput_per_s(core), f"{name} {PoolTuple(*core)}"
        goodput.axhline(level, linestyle=":", color=colour, label=label)
    goodput.set(title=run.stage.name, ylabel="goodput (1/s)", ylim=(0, None))
    goodput.legend(loc="lower right", fontsize="small")
    size.set(xlabel="seconds since the workload began", ylabel="pool size (groups)", ylim=(0, None))
    figure.savefig(path, dpi=120)


def _series(trace: TuningTrace) -> tuple[list[float], list[float], list[int]]:
    """Edges of the windows (n + 1) with their goodput and pool size (n)."""
    edges = [trace.steps[0].end_s - trace.steps[0].duration_s, *(step.end_s for step in trace.steps)]
    return edges, [step.goodput_per_s for step in trace.steps], [step.pool_tuple.pool_size for step in trace.steps]
