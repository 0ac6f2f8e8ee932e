"""One held-out workload on live servers: every method chooses in the same seconds, then all choices are compared."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.warm_start import (
    MARIADB_CLIMB,
    MARIADB_WARM_START,
    WarmStartSettings,
    climb_controller,
)
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MARIADB_RACING, measure, observe
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.evaluate.timeline import lost_goodput, time_to_share

DEFAULT, REFINED, COLD, ORACLE = "default", "refined", "cold", "oracle"


class LiveSettings(BaseModel):
    """How long a held-out workload is watched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: LabPlace = LabPlace()
    first_window_s: float = Field(
        default=3.0, gt=0.0, description="Length of the window that one-shot methods see in seconds."
    )
    refined_s: float = Field(default=20.0, gt=0.0, description="Seconds that the warm start is watched.")
    cold_s: float = Field(default=45.0, gt=0.0, description="Seconds that the cold climb is watched.")
    warm_start: WarmStartSettings = MARIADB_WARM_START
    climb: ClimbSettings = MARIADB_CLIMB
    repeats: int = Field(default=6, ge=3, description="Interleaved windows by which the configurations are compared.")
    window_s: float = Field(default=1.0, gt=0.0, description="Length of such a window in seconds.")
    seed: int = Field(default=0, ge=0, description="Seed of the order of the comparison.")


@dataclass(frozen=True)
class LiveCell:
    """What was measured of one workload; cores are written `size,oversubscribe,timer`.

    Attributes:
        workload: Its name.
        family: Its family.
        chosen: Core that each method chose.
        abstained: Methods that did not know.
        values: J of the windows of every core compared, in the order of the rounds.
        goodputs: Their goodput a second.
        feasible: Share of the windows of a core that keep the constraints, against the default's in the same round.
        classes: Mean completions a second of every class under a core.
        seconds: Seconds from the workload's start until a method's goodput had reached 95 % of the oracle's and stayed;
            None where that did not happen within its horizon.
        lost: Requests in time that the oracle would have completed meanwhile.
    """

    workload: str
    family: str
    chosen: Mapping[str, str]
    abstained: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    goodputs: Mapping[str, tuple[float, ...]]
    feasible: Mapping[str, float]
    classes: Mapping[str, Mapping[str, float]]
    seconds: Mapping[str, float | None]
    lost: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds a cell from `as_dict`."""
        tuples = {name: {core: tuple(each) for core, each in values[name].items()} for name in ("values", "goodputs")}
        return cls(**{**values, **tuples, "abstained": tuple(values["abstained"])})


@dataclass(frozen=True)
class LiveMethods:
    """What is compared.

    Attributes:
        one_shot: Methods that see one window as the server sees it, by name.
        relaxed: The model as a warm start may use it.
        oracle: Best tuple of the workload's recorded sweep.
    """

    one_shot: Mapping[str, Predictor]
    relaxed: ScorePredictor
    oracle: Core


def run_cell(stage: Stage, methods: LiveMethods, settings: LiveSettings) -> LiveCell:
    """Measures one workload: the warm start, the cold climb, then all choices interleaved, each on a fresh server.

    Raises:
        ServerError: The server or its load failed.
    """
    with stage.open_server() as server:
        refined = _refined(server, methods.relaxed, stage.objective, settings)
    with stage.open_server() as server:
        cold = _cold(server, stage.objective, settings)
    with stage.open_server() as server:
        default = server.tuple_in_force().core
        looked = observe(server, settings.first_window_s).window.without_classes()
        said = {
            name: predictor.predict([looked], server.knobs, stage.objective)
            for name, predictor in methods.one_shot.items()
        }
        chosen = {name: one.pool_tuple.core for name, one in said.items()}
        chosen |= {REFINED: refined.final_tuple.core, COLD: cold.final_tuple.core}
        chosen |= {DEFAULT: default, ORACLE: methods.oracle}
        windows = compared(server, list(dict.fromkeys([default, *chosen.values()])), settings, stage.seed)
    return _cell(
        stage,
        chosen,
        tuple(name for name, one in said.items() if one.abstained),
        windows,
        {REFINED: refined, COLD: cold},
    )


def _refined(server: PoolServer, relaxed: ScorePredictor, objective: Objective, settings: LiveSettings) -> TuningTrace:
    warm_start = settings.warm_start
    controller = climb_controller(settings.climb, server, objective, predictor=relaxed, warm_start=warm_start)
    return tune(server, controller, objective, horizon_s=settings.refined_s)


def _cold(server: PoolServer, objective: Objective, settings: LiveSettings) -> TuningTrace:
    controller = climb_controller(settings.climb, server, objective, warm_start=settings.warm_start)
    return tune(server, controller, objective, period_s=settings.climb.period_s, horizon_s=settings.cold_s)


def compared(server: PoolServer, cores: list[Core], settings: LiveSettings, seed: int) -> dict[Core, list[Window]]:
    """Windows of every tuple, all of them in every round and in random order, so that drift strikes all alike."""
    measurement = MARIADB_RACING.model_copy(update={"window_s": settings.window_s})
    rng = np.random.default_rng([settings.seed, seed])
    windows: dict[Core, list[Window]] = {core: [] for core in cores}
    for _ in range(settings.repeats):
        for place in rng.permutation(len(cores)):
            wanted = server.tuple_in_force().with_core(cores[place])
            windows[cores[place]].append(measure(server, wanted, measurement).window)
    return windows


def _cell(
    stage: Stage,
    chosen: Mapping[str, Core],
    abstained: tuple[str, ...],
    windows: Mapping[Core, list[Window]],
    traces: Mapping[str, TuningTrace],
) -> LiveCell:
    objective, default = stage.objective, windows[chosen[DEFAULT]]
    goodputs = {core: [objective.goodput_per_s(one) for one in each] for core, each in windows.items()}
    oracle_per_s = float(np.mean(goodputs[chosen[ORACLE]]))
    return LiveCell(
        workload=stage.name,
        family=stage.family,
        chosen={name: core_name(core) for name, core in chosen.items()},
        abstained=abstained,
        values={core_name(core): tuple(objective.value(one) for one in each) for core, each in windows.items()},
        goodputs={core_name(core): tuple(each) for core, each in goodputs.items()},
        feasible={
            core_name(core): float(np.mean([objective.feasible(*pair) for pair in zip(each, default, strict=True)]))
            for core, each in windows.items()
        },
        classes={core_name(core): _throughputs(each) for core, each in windows.items()},
        seconds={name: time_to_share(trace.steps, oracle_per_s) for name, trace in traces.items()},
        lost={name: lost_goodput(trace.steps, oracle_per_s) for name, trace in traces.items()},
    )


def _throughputs(windows: list[Window]) -> dict[str, float]:
    names = sorted({name for window in windows for name in window.classes})
    return {
        name: float(
            np.mean([window.classes[name].throughput_per_s if name in window.classes else 0.0 for window in windows])
        )
        for name in names
    }


def core_name(core: Core) -> str:
    """A core as a key of JSON."""
    return ",".join(map(str, core))


def core_of(name: str) -> Core:
    """The core of such a key."""
    size, oversubscribe, timer_interval_ms = map(int, name.split(","))
    return size, oversubscribe, timer_interval_ms
