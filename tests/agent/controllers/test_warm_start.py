"""A warm start tries what it is told, ends on the best it measured, and then holds."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from poolpilot.agent.controllers.warm_start import OpenClimb, WarmStart, WarmStartSettings, climb_controller, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.native_pool import SpectralClimber
from poolpilot.native_pool.workload import RequestClass, Step, Workload

Curve = tuple[tuple[int, float], ...]
ARCH: Curve = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


class Scripted:
    """Predicts the sizes of a script, one for each window seen, the last for all others; None abstains."""

    def __init__(self, *sizes: int | None, gain: float | None = None, probes: Sequence[int] = ()) -> None:
        self.sizes = list(sizes)
        self.gain = gain
        self.probes = list(probes)
        self.seen: list[list[int]] = []

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        self.seen.append([window.pool_tuple.pool_size for window in windows])
        size = self.sizes[min(len(windows), len(self.sizes)) - 1]
        in_force = windows[-1].pool_tuple
        named = in_force if size is None else in_force.with_core((size, 3, 10 if size != 2 else 500))
        return Prediction(named, in_force, size is None, ("scripted",), "digest", expected_gain=self.gain)

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        assert limits.allows(windows[-1].pool_tuple)
        assert objective == Objective()
        return windows[-1].pool_tuple.with_core((self.probes.pop(0), 3, 10)) if self.probes else None


@dataclass
class Run:
    """A warm start on a curve for eight seconds."""

    warm_start: WarmStart
    steps: list[TuningStep]
    told: list[TuningStep]

    @property
    def predictions(self) -> list[Prediction]:
        return self.warm_start.predictions


def run_of(
    predictor: Scripted,
    server: CurveServer,
    settings: WarmStartSettings | None = None,
    open_climb: OpenClimb | None = None,
    horizon_s: float = 8.0,
) -> Run:
    climb = open_climb or size_climb(ClimbSettings(), server.knobs, Objective())
    warm_start = WarmStart(predictor, server.knobs, Objective(), climb, settings)
    told: list[TuningStep] = []
    trace = tune(server, warm_start, Objective(), horizon_s=horizon_s, on_step=told.append)
    return Run(warm_start, list(trace.steps), told)


def settings_of(decisions: int) -> WarmStartSettings:
    measurement = MeasurementSettings(settle_s=0.25, window_s=0.5, window_ticks=0.0)
    return WarmStartSettings(decisions=decisions, measurement=measurement)


def started(predictor: Scripted, decisions: int = 2, curve: Curve = ARCH) -> Run:
    return run_of(predictor, CurveServer(curve, connections=64, cpus=2), settings_of(decisions))


def tried(run: Run) -> list[int]:
    """Sizes in the order in which they were in force."""
    return [size for size, _ in itertools.groupby(step.pool_tuple.pool_size for step in run.steps)]


def test_prediction_is_in_force_after_one_look() -> None:
    run = started(Scripted(32), decisions=1)
    assert [step.pool_tuple.pool_size for step in run.steps[:2]] == [2, 32]
    assert run.steps[0].end_s == pytest.approx(0.5)
    assert run.told == run.steps
    assert run.steps[-1].end_s == pytest.approx(8.0, abs=0.25)
    assert {step.pool_tuple.pool_size for step in run.steps[1:]} == {32}


def test_what_settles_after_a_change_is_no_answer() -> None:
    # 64 requests are inside, and 172 a second leave: so long the older configuration's are waited for.
    run = started(Scripted(32), decisions=1)
    assert [step.duration_s for step in run.steps[1:3]] == pytest.approx([64 / 172, 0.5], rel=0.01)


def test_climb_takes_over_before_its_first_window_and_may_have_all_its_settings() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    begun: list[Controller] = []
    of_size = size_climb(ClimbSettings(period_s=0.7).native(), server.knobs, Objective())

    def open_climb(start: PoolTuple, warm: bool, first: Window | None) -> Controller:
        begun.append(of_size(start, warm, first))
        return begun[0]

    run = run_of(Scripted(32), server, settings_of(1), open_climb)
    assert begun == [run.warm_start.climb]
    assert isinstance(begun[0], ClimbController)
    assert isinstance(begun[0].climber, SpectralClimber)
    assert begun[0].climber.mode == "OPTIMIZED"
    assert [step.duration_s for step in run.steps[4:]] == pytest.approx([0.7] * (len(run.steps) - 4))


def test_many_knobs_climb_on_from_the_tuple_chosen() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    begun: list[PoolTuple] = []

    def many(start: PoolTuple, _warm: bool, _first: Window | None) -> Controller:
        begun.append(start)
        return KnobClimbController(ClimbSettings(), server.knobs, start, Objective())

    run = run_of(Scripted(32), server, settings_of(2), many)
    assert [pool_tuple.core for pool_tuple in begun] == [(32, 3, 10)]
    assert len({step.pool_tuple.timer_interval_ms for step in run.steps[-16:]}) > 1
    assert run.steps[-1].end_s == pytest.approx(8.0, abs=0.25)


def test_cut_short_it_recommends_the_best_tuple_that_it_has_tried() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    run = run_of(Scripted(3), server, settings_of(2), horizon_s=1.0)
    assert [step.pool_tuple.pool_size for step in run.steps] == [2, 3]
    assert run.warm_start.climb is None
    assert server.tuple_in_force().pool_size == 2


def test_later_decisions_see_the_responses_and_the_best_seen_stays() -> None:
    predictor = Scripted(32, 64)
    run = started(predictor)
    assert predictor.seen == [[2], [2, 32]]
    assert [window.pool_tuple.pool_size for window in run.warm_start.tried] == [2, 32, 64]
    assert run.steps[-1].pool_tuple.pool_size == 32


def test_a_model_that_is_done_probes_and_the_better_tuple_stays() -> None:
    run = started(Scripted(4, probes=[32, 64]), decisions=3)
    assert tried(run) == [2, 4, 32, 64, 32]


def test_a_model_that_keeps_the_first_tuple_is_put_to_the_proof() -> None:
    run = started(Scripted(2, probes=[32]))
    assert tried(run) == [2, 32]


def test_without_a_probe_to_make_the_trials_end() -> None:
    run = started(Scripted(32), decisions=3)
    assert tried(run) == [2, 32]
    assert len(run.predictions) == 2


def test_abstaining_climbs_cold_from_where_it_is() -> None:
    run = started(Scripted(None))
    assert run.predictions[-1].abstained
    sizes = [step.pool_tuple.pool_size for step in run.steps]
    assert sizes[0] == 2
    assert len(set(sizes)) > 1


def test_the_reason_is_that_of_what_is_doing_it() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    climb = size_climb(ClimbSettings(), server.knobs, Objective())
    warm_start = WarmStart(Scripted(32), server.knobs, Objective(), climb, settings_of(1))
    reasons: list[str] = []
    tune(server, warm_start, Objective(), horizon_s=4.0, on_step=lambda _: reasons.append(warm_start.reason))
    assert "scripted" in reasons
    assert warm_start.climb is not None
    assert reasons[-1] == warm_start.climb.reason


def beside_rare_long(seed: int, long_us: float = 100_000.0) -> SimulatedServer:
    """Short requests beside long ones of which a short window often shows none."""
    short, long = Step("cpu", us=100.0), Step("cpu", us=long_us)
    classes = (RequestClass("short", (short,), share=0.9), RequestClass("long", (long,), share=0.1))
    return SimulatedServer(Workload("beside", "beside", classes, connections=64, cpus=2, seed=seed))


@pytest.mark.parametrize("seed", range(4))
def test_cold_climb_with_a_floor_looks_first_for_as_long_as_that_needs(seed: int) -> None:
    objective, server = Objective(weights={"long": 0.0}, min_share={"long": 0.5}), beside_rare_long(seed)
    server.run_for(3.0)
    first = server.tuple_in_force()
    controller = climb_controller(ClimbSettings(period_s=0.1), server, objective)
    assert isinstance(controller, WarmStart)
    trace = tune(server, controller, objective, period_s=0.1, horizon_s=20.0)
    (looked,) = controller.tried
    assert looked.pool_tuple == first
    assert looked.classes["long"].throughput_per_s * looked.duration_s >= 10.0
    assert controller.predictions == []
    assert isinstance(controller.climb, ClimbController)
    assert [step.duration_s for step in trace.steps[-10:]] == pytest.approx([0.1] * 10)


def test_cold_climb_without_a_floor_begins_at_once() -> None:
    server = beside_rare_long(0)
    assert isinstance(climb_controller(ClimbSettings(), server, Objective()), ClimbController)


@pytest.mark.parametrize("seed", range(4))
def test_class_that_the_first_look_does_not_show_is_waited_for(seed: int) -> None:
    objective, server = Objective(min_share={"long": 0.5}), beside_rare_long(seed, long_us=2_000_000.0)
    server.run_for(3.0)
    controller = climb_controller(ClimbSettings(period_s=0.1), server, objective)
    assert isinstance(controller, WarmStart)
    tune(server, controller, objective, period_s=0.1, horizon_s=40.0)
    assert "long" in objective.floors(controller.tried[0])


def test_first_look_is_no_shorter_than_a_window_of_the_climb() -> None:
    objective = Objective(min_share={"long": 0.5})
    controller = climb_controller(ClimbSettings(period_s=5.0), beside_rare_long(0), objective)
    assert controller.suggest().window_s == 5.0


class Collapsing(CurveServer):
    """Serves a hundredth of its curve once another tuple has been in force, for so many seconds after that."""

    def __init__(self, lasts_s: float) -> None:
        super().__init__(ARCH, connections=64, cpus=2)
        self.lasts_s = lasts_s
        self.changed_s = -math.inf

    def throughput_per_s(self, pool_tuple: PoolTuple) -> float:
        if pool_tuple != self.knobs.default_tuple():
            self.changed_s = self.snapshot().time_s
        collapsed = self.snapshot().time_s - self.changed_s < self.lasts_s
        return super().throughput_per_s(pool_tuple) * (0.01 if collapsed else 1.0)


def climbs_from(server: CurveServer, horizon_s: float) -> tuple[WarmStart, list[TuningStep]]:
    run = run_of(Scripted(32), server, settings_of(1), horizon_s=horizon_s)
    assert [window.pool_tuple.pool_size for window in run.warm_start.tried] == [2, 32]
    return run.warm_start, [step for step in run.steps if step.end_s > 4.0]


def test_pool_that_trials_have_left_poorer_is_not_climbed_by_its_noise() -> None:
    warm_start, after = climbs_from(Collapsing(math.inf), 6.0)
    assert warm_start.climb is None
    assert warm_start.returning
    assert {step.pool_tuple.pool_size for step in after} == {2}
    assert warm_start.reason == (
        "(2, 3, 500) is back and brings 99 % less than before the trials: nothing is changed while the pool is so"
    )
    assert warm_start.recommend() == PoolTuple(2, 3, 500)


def test_pool_that_recovers_is_climbed() -> None:
    warm_start, _ = climbs_from(Collapsing(2.5), 12.0)
    assert warm_start.climb is not None


def test_pool_that_stays_as_it_is_by_now_is_climbed_in_the_end() -> None:
    warm_start, _ = climbs_from(Collapsing(math.inf), 40.0)
    assert warm_start.climb is not None
