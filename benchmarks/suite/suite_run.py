"""One workload of the suite: sweep, advice and constants live, then all choices against the default."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.predictor_controller import PredictorController
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.load_cycles import whole_cycles_s
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.live.judging.comparison import compared
from poolpilot.pipelines.evaluate.live.judging.live_result import DEFAULT, REFERENCE, LiveResult
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings, round_values
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings, OnSwept, choose, windows_of_choices
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace
from poolpilot.pipelines.evaluate.live.whole_cycles import run_in_cycles
from poolpilot.pipelines.evaluate.stage import Stage
from suite.judgement import ADVICE
from suite.objectives import OBJECTIVES, ObjectiveName, judged
from suite.suite_cells import SuiteCell

CONSTANTS: Mapping[str, PoolTuple] = {
    "constant_16_3_10": PoolTuple(16, 3, 10),
    "constant_4_3_10": PoolTuple(4, 3, 10),
}


class SuiteRunSettings(BaseModel):
    """How long a workload of the suite is watched, and what counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: LabPlace = LabPlace()
    objective: ObjectiveName = Field(default="short", description="What counts: short, throughput or p99.")
    look_s: float = Field(default=5.0, gt=0.0, description="Seconds of the window that advice observes.")
    live: LiveRunSettings = Field(
        default=LiveRunSettings(
            grid=MachineGrid(sizes=(1, 2, 4, 8, 16, 32, 64), multiples=()),
            paired=PairedSettings(least_rounds=4, most_rounds=8, wanted_error=0.015, wanted_share=0.1),
        ),
        description="How the reference is found, and how the choices are compared.",
    )
    pace: MariadbPace = Field(default=MariadbPace(), description="How methods measure, and how long each has.")


@dataclass(frozen=True)
class CellResult:
    """What was measured of one workload.

    Attributes:
        workload: Its name.
        family: Its family.
        default: The default tuple.
        chosen: Tuple that each method left in force; the sweep's best is `reference`.
        abstained: Methods that had no advice.
        values: J of every method's tuple in each round of the comparison, prices of threads left out.
        class_share: Completions of each class over those under the default, by method.
        live: The choices against the reference.
    """

    workload: str
    family: str
    default: Core
    chosen: Mapping[str, Core]
    abstained: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    class_share: Mapping[str, Mapping[str, float]]
    live: LiveResult

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds a result from `as_dict`."""
        return cls(
            workload=values["workload"],
            family=values["family"],
            default=_core(values["default"]),
            chosen={name: _core(core) for name, core in values["chosen"].items()},
            abstained=tuple(values["abstained"]),
            values={name: tuple(each) for name, each in values["values"].items()},
            class_share=values["class_share"],
            live=LiveResult.from_dict(values["live"]),
        )


def _core(values: Any) -> Core:
    size, oversubscribe, timer_interval_ms = values
    return size, oversubscribe, timer_interval_ms


def run_suite_cell(
    cell: SuiteCell,
    adviser: Predictor,
    further: Mapping[str, OpenMethod],
    settings: SuiteRunSettings,
    on_step: Callable[[str], None],
    on_swept: OnSwept = lambda _, __: None,
) -> CellResult:
    """Measures one workload.

    Args:
        cell: The workload with its expectation.
        adviser: What advises after one observation of what the server alone shows.
        further: Further methods, by name.
        settings: How.
        on_step: Called with what is being done.
        on_swept: Takes the sweep.

    Raises:
        ServerError: The server or its load failed.
    """
    whole = whole_cycles(settings, cell.workload.cycle_s)
    plain = lab_stage(cell.workload, settings.place)
    objective = OBJECTIVES[settings.objective](cell.workload)
    stage = Stage(plain.name, plain.family, plain.seed, objective, plain.open_server)
    asked = _Asked(whole.look_s)
    methods = {ADVICE: asked.opened(ADVICE, adviser), **further}
    choices = choose(stage, methods, whole.live, on_step, on_swept)
    on_step("comparison")
    constants = {name: constant.core for name, constant in CONSTANTS.items()}
    # First comes what the others are compared with.
    cores = {DEFAULT: choices.cores[DEFAULT], **choices.cores, **constants}
    rng = np.random.default_rng([whole.live.seed, stage.seed])
    windows = windows_of_choices(stage, cores, judged(objective), whole.live, rng)
    first = {REFERENCE: windows[REFERENCE]}
    live = compared(stage, replace(choices, cores=cores), {**first, **windows})
    return _result(stage, cores, asked.abstained(), windows, live)


def whole_cycles(settings: SuiteRunSettings, cycle_s: float) -> SuiteRunSettings:
    """The settings with the seconds of their pace, and with windows of whole cycles of a load that repeats itself."""
    look_s = whole_cycles_s(settings.look_s, cycle_s) if cycle_s > 0.0 else settings.look_s
    budget_s = max(settings.pace.budget_s, look_s + cycle_s)
    live = run_in_cycles(settings.live.model_copy(update={"budget_s": budget_s}), cycle_s)
    return settings.model_copy(update={"look_s": look_s, "live": live})


class _Asked:
    """Opens predictors as controllers, and remembers what they said."""

    def __init__(self, look_s: float) -> None:
        self._look_s = look_s
        self._controllers: dict[str, PredictorController] = {}

    def opened(self, name: str, predictor: Predictor) -> OpenMethod:
        def open_controller(knobs: KnobSpace, objective: Objective, _: int) -> Controller:
            made = PredictorController(predictor, knobs, objective, window_s=self._look_s)
            self._controllers[name] = made
            return made

        return open_controller

    def abstained(self) -> tuple[str, ...]:
        said = {name: controller.prediction for name, controller in self._controllers.items()}
        return tuple(name for name, prediction in said.items() if prediction is not None and prediction.abstained)


def _result(
    stage: Stage,
    cores: Mapping[str, Core],
    abstained: tuple[str, ...],
    windows: Mapping[str, list[Window]],
    live: LiveResult,
) -> CellResult:
    objective, default = judged(stage.objective), _completed(windows[DEFAULT])
    return CellResult(
        workload=stage.name,
        family=stage.family,
        default=cores[DEFAULT],
        chosen=dict(cores),
        abstained=abstained,
        values={name: tuple(map(float, round_values(each, objective))) for name, each in windows.items()},
        class_share={name: _over(_completed(each), default) for name, each in windows.items()},
        live=live,
    )


def _completed(windows: list[Window]) -> dict[str, float]:
    """Completions a second of each class over all windows."""
    return {name: of_class.throughput_per_s for name, of_class in Window.pooled(windows).classes.items()}


def _over(values: Mapping[str, float], default: Mapping[str, float]) -> dict[str, float]:
    return {name: value / default[name] for name, value in values.items() if default.get(name, 0.0) > 0.0}
