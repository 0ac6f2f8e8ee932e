"""One workload, live: a sweep finds the reference, methods choose on servers, all choices are compared."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.measurement.protocol import MeasurementSettings, sweep
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.live.paired_windows import PairedSettings, errors_of, paired_windows
from poolpilot.pipelines.evaluate.stage import Stage

DEFAULT, REFERENCE = "default", "reference"

UNSAFE = 0.8
"""A window with less than this share of the first tuple's goodput is unsafe (DESIGN of OnlineTune's evaluation)."""


class LiveRunSettings(BaseModel):
    """How long a workload is watched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    grid: MachineGrid = Field(default=MachineGrid(), description="Configurations of the sweep.")
    sweep: MeasurementSettings = Field(
        default=MeasurementSettings(settle_s=0.5, window_s=0.5, keep_shares=(0.4, 0.5), final_repeats=2),
        description="How the reference is found.",
    )
    warm_up_s: float = Field(
        default=3.0, ge=0.0, description="Seconds that a server has served under its default before a method begins."
    )
    budget_s: float = Field(default=15.0, gt=0.0, description="Seconds that every method has on a server of its own.")
    period_s: float = Field(default=0.25, gt=0.0, description="Seconds of a window where a method asks for none.")
    paired: PairedSettings = PairedSettings()
    seed: int = Field(default=0, ge=0, description="Seed of the orders.")


@dataclass(frozen=True)
class MethodRun:
    """What one method did with one workload.

    Attributes:
        method: Its name.
        chosen: Core tuple it left in force.
        value: Mean J of that in the windows of the comparison, which it did not choose by.
        error: Standard error of its difference to the reference.
        goodput_share: Its goodput over the reference's.
        p99_ms: 99th percentile of latency, by class.
        threads: Threads of the pool.
        tries: Tuples measured on the way besides the first.
        on_the_way: Mean goodput of its seconds over the reference's.
        unsafe: Share of its windows with less than 80 % of the first window's goodput.
    """

    method: str
    chosen: Core
    value: float
    error: float
    goodput_share: float
    p99_ms: Mapping[str, float]
    threads: float | None
    tries: int = 0
    on_the_way: float | None = None
    unsafe: float = 0.0


@dataclass(frozen=True)
class LiveResult:
    """All methods on one workload.

    Attributes:
        workload: Its name.
        family: Its family.
        runs: What each method did; `default` and `reference` (the sweep's best) among them.
        repeats: Whether the sweep's best, measured afresh, is not clearly worse than the best of all compared.
    """

    workload: str
    family: str
    runs: tuple[MethodRun, ...]
    repeats: bool

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds a result from `as_dict`."""
        runs = tuple(MethodRun(**{**run, "chosen": tuple(run["chosen"])}) for run in values["runs"])
        return cls(values["workload"], values["family"], runs, values["repeats"])


def run_workload(
    stage: Stage, methods: Mapping[str, OpenMethod], settings: LiveRunSettings, on_step: Callable[[str], None]
) -> LiveResult:
    """Lets every method choose under one workload and compares what they chose.

    Args:
        stage: The workload with its server.
        methods: The methods.
        settings: How long.
        on_step: Called with what is being done.

    Raises:
        ServerError: The server or its load failed.
    """
    on_step("sweep")
    chosen: dict[str, Core] = {REFERENCE: _best(stage, settings)}
    traces: dict[str, TuningTrace] = {}
    for name, open_method in methods.items():
        on_step(name)
        with stage.open_server() as server:
            server.run_for(settings.warm_up_s)
            controller = open_method(server.knobs, stage.objective)
            trace = tune(server, controller, stage.objective, period_s=settings.period_s, horizon_s=settings.budget_s)
            traces[name], chosen[name] = trace, server.tuple_in_force().core
    on_step("comparison")
    with stage.open_server() as server:
        chosen[DEFAULT] = server.tuple_in_force().core
        cores = list(dict.fromkeys(chosen.values()))
        rng = np.random.default_rng([settings.seed, stage.seed])
        windows = paired_windows(server, cores, stage.objective, settings.paired, rng)
    return _result(stage, chosen, traces, windows)


def _best(stage: Stage, settings: LiveRunSettings) -> Core:
    with stage.open_server() as server:
        tuples = settings.grid.on(server.knobs).tuples
        default = server.tuple_in_force()
        wanted = [default, *(default.with_core(one.core) for one in tuples if one.core != default.core)]
        rng = np.random.default_rng([settings.seed, stage.seed, 1])
        measured = sweep(server, wanted, stage.objective, settings.sweep, rng)
        found = WorkloadSweep.build(
            [(one.round, one.window) for one in measured],
            workload_id=stage.name,
            family=stage.family,
            split="test",
            limits=server.knobs,
            objective=stage.objective,
        )
    return found.oracle_tuple.core


def _result(
    stage: Stage,
    chosen: Mapping[str, Core],
    traces: Mapping[str, TuningTrace],
    windows: Mapping[Core, list[Window]],
) -> LiveResult:
    objective = stage.objective
    values = {core: float(np.mean([objective.value(one) for one in each])) for core, each in windows.items()}
    goodputs = {core: float(np.mean([objective.goodput_per_s(one) for one in each])) for core, each in windows.items()}
    errors = errors_of(windows, objective)
    reference = chosen[REFERENCE]
    best = max(values, key=values.__getitem__)
    runs = [
        MethodRun(
            method=name,
            chosen=core,
            value=values[core],
            error=errors[core],
            goodput_share=goodputs[core] / goodputs[reference],
            p99_ms=_p99(windows[core]),
            threads=windows[core][-1].threads,
            **_on_the_way(traces.get(name), goodputs[reference]),
        )
        for name, core in chosen.items()
    ]
    repeats = values[best] - values[reference] <= max(2.0 * errors[best], 0.05)
    return LiveResult(stage.name, stage.family, tuple(runs), repeats)


def _on_the_way(trace: TuningTrace | None, reference_per_s: float) -> dict[str, Any]:
    if trace is None:
        return {}
    first = trace.steps[0].goodput_per_s
    seconds = sum(step.duration_s for step in trace.steps)
    mean = sum(step.goodput_per_s * step.duration_s for step in trace.steps) / seconds
    return {
        "tries": len({step.pool_tuple.core for step in trace.steps}) - 1,
        "on_the_way": mean / reference_per_s,
        "unsafe": float(np.mean([step.goodput_per_s < UNSAFE * first for step in trace.steps])),
    }


def _p99(windows: list[Window]) -> dict[str, float]:
    names = sorted({name for window in windows for name in window.classes})
    merged = {
        name: sum(
            (window.classes[name].latency for window in windows[1:] if name in window.classes),
            windows[0].classes[name].latency,
        )
        for name in names
        if name in windows[0].classes
    }
    return {name: latency.quantile(0.99) / 1000.0 for name, latency in merged.items()}
