"""One workload, live: a sweep finds the reference, methods choose on servers, all choices are compared."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, sweep
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.evaluate.live.judging.comparison import Choices, compared
from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, DEFAULT, REFERENCE, LiveResult, SweptTuple
from poolpilot.pipelines.evaluate.live.judging.own_pools import judging_server
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings, paired_windows
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.stage import Stage


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


OnSwept = Callable[[KnobSpace, Sequence[Measured]], None]
"""Takes a finished sweep: the server's knobs and every window."""


def run_workload(
    stage: Stage, methods: Mapping[str, OpenMethod], settings: LiveRunSettings, on_step: Callable[[str], None]
) -> LiveResult:
    """Lets every method choose under one workload and compares what they chose with the sweep's best.

    Args:
        stage: The workload with its server.
        methods: The methods.
        settings: How long.
        on_step: Called with what is being done.

    Raises:
        ServerError: The server or its load failed.
    """
    choices = choose(stage, methods, settings, on_step)
    on_step("comparison")
    rng = np.random.default_rng([settings.seed, stage.seed])
    windows = windows_of_choices(stage, choices.cores, stage.objective, settings, rng)
    return compared(stage, choices, windows)


def choose(
    stage: Stage,
    methods: Mapping[str, OpenMethod],
    settings: LiveRunSettings,
    on_step: Callable[[str], None],
    on_swept: OnSwept = lambda _, __: None,
) -> Choices:
    """Sweeps for the reference, then lets every method choose on a fresh server of its own.

    Raises:
        ServerError: A server or its load failed.
    """
    on_step("sweep")
    found, default = _swept(stage, settings, on_swept)
    cores, traces = {REFERENCE: found.oracle_tuple.core}, {}
    for name, open_method in methods.items():
        on_step(name)
        with stage.open_server() as server:
            server.run_for(settings.warm_up_s)
            controller = open_method(server.knobs, stage.objective, draws_seed(stage, settings.seed))
            trace = tune(server, controller, stage.objective, period_s=settings.period_s, horizon_s=settings.budget_s)
            traces[name], cores[name] = trace, server.tuple_in_force().core
    swept = tuple(SweptTuple.of(core, entry.values) for core, entry in found.entries.items())
    return Choices({**cores, DEFAULT: default, AGAIN: default}, traces, swept)


def draws_seed(stage: Stage, seed: int) -> int:
    """Seed of what a method draws by itself: another one under every workload, files without a seed among them."""
    return int(np.random.default_rng([seed, stage.seed, *stage.name.encode()]).integers(2**31))


def windows_of_choices(
    stage: Stage,
    cores: Mapping[str, Core],
    objective: Objective,
    settings: LiveRunSettings,
    rng: np.random.Generator,
) -> dict[str, list[Window]]:
    """Windows of every choice on one more server, or on one each in virtual time (see `own_pools`).

    Who chose the same share them, but for the default scored again.

    Args:
        stage: The workload with its server.
        cores: The choices; that of the first is what the others are compared with.
        objective: What tells when it is enough.
        settings: When it is, and how long a server of one choice has served before.
        rng: Source of the order.

    Raises:
        ServerError: The server or its load failed.
    """
    names = {core: name for name, core in reversed(list(cores.items())) if name != AGAIN}
    scored = {name: core for name, core in cores.items() if name == AGAIN or names[core] == name}
    with judging_server(stage.drawn_anew(), settings.warm_up_s) as server:
        each = paired_windows(server, list(scored.values()), objective, settings.paired, rng)
    found = dict(zip(scored, each, strict=True))
    return {name: found[name if name == AGAIN else names[core]] for name, core in cores.items()}


def _swept(stage: Stage, settings: LiveRunSettings, on_swept: OnSwept) -> tuple[WorkloadSweep, Core]:
    """The sweep of a workload, and the default, which is among its tuples."""
    with judging_server(stage, settings.warm_up_s) as server:
        tuples = settings.grid.on(server.knobs).tuples
        default = server.tuple_in_force()
        wanted = [default, *(default.with_core(one.core) for one in tuples if one.core != default.core)]
        rng = np.random.default_rng([settings.seed, stage.seed, 1])
        measured = sweep(server, wanted, stage.objective, settings.sweep, rng, load_anew=True)
        on_swept(server.knobs, measured)
        found = WorkloadSweep.build(
            [(one.round, one.window) for one in measured],
            workload_id=stage.name,
            family=stage.family,
            split="test",
            limits=server.knobs,
            objective=stage.objective,
        )
    return found, default.core
