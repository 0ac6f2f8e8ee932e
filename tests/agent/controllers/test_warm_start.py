"""A warm start looks, sets what it is told, looks again, ends on the best it saw, and then holds."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from poolpilot.agent.controllers.warm_start import OpenClimb, WarmStart, WarmStartSettings, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction
from poolpilot.native_pool import SpectralClimber

Curve = tuple[tuple[int, float], ...]
ARCH: Curve = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


class Scripted:
    """Predicts the sizes of a script, one for each window seen, the last for all others; None abstains."""

    def __init__(self, *sizes: int | None, gain: float | None = None, probes: Sequence[int] = ()) -> None:
        self.sizes = list(sizes)
        self.gain = gain
        self.probes = list(probes)
        self.seen: list[list[int]] = []
        self.near: list[int | None] = []

    def predict(self, windows: Sequence[Window], *_: KnobSpace | Objective) -> Prediction:
        self.seen.append([window.pool_tuple.pool_size for window in windows])
        size = self.sizes[min(len(windows), len(self.sizes)) - 1]
        in_force = windows[-1].pool_tuple
        named = in_force if size is None else in_force.with_core((size, 3, 10 if size != 2 else 500))
        return Prediction(named, in_force, size is None, ("scripted",), "digest", expected_gain=self.gain)

    def probe(
        self, windows: Sequence[Window], limits: KnobSpace, objective: Objective, near: PoolTuple | None
    ) -> PoolTuple | None:
        assert limits.allows(windows[-1].pool_tuple)
        assert objective == Objective()
        self.near.append(None if near is None else near.pool_size)
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
) -> Run:
    climb = open_climb or size_climb(ClimbSettings(), server.knobs, Objective())
    warm_start = WarmStart(predictor, server.knobs, Objective(), climb, settings)
    told: list[TuningStep] = []
    trace = tune(server, warm_start, Objective(), horizon_s=8.0, on_step=told.append)
    return Run(warm_start, list(trace.steps), told)


def started(predictor: Scripted, decisions: int = 2, curve: Curve = ARCH) -> Run:
    settings = WarmStartSettings(settle_s=0.25, short_window_s=0.125, window_s=0.5, decisions=decisions)
    return run_of(predictor, CurveServer(curve, connections=64, cpus=2), settings)


def tried(run: Run) -> list[int]:
    """Sizes in the order in which they were in force."""
    return [size for size, _ in itertools.groupby(step.pool_tuple.pool_size for step in run.steps)]


def test_prediction_is_in_force_after_one_look() -> None:
    run = started(Scripted(32), decisions=1)
    assert [step.pool_tuple.pool_size for step in run.steps[:4]] == [2, 2, 2, 32]
    assert run.steps[2].end_s == pytest.approx(0.875)
    assert run.told == run.steps
    assert run.steps[-1].end_s == pytest.approx(8.0, abs=0.25)
    assert {step.pool_tuple.pool_size for step in run.steps[3:]} == {32}


@pytest.mark.parametrize(("gain", "seconds"), [(0.16, 0.375), (0.14, 0.875)])
def test_decisive_promise_needs_only_a_short_window(gain: float, seconds: float) -> None:
    run = started(Scripted(32, gain=gain), decisions=1)
    before = [step for step in run.steps if step.pool_tuple.pool_size == 2]
    assert before[-1].end_s == pytest.approx(seconds)


@pytest.mark.parametrize(("size", "windows"), [(32, [0.25, 0.125, 0.1]), (3, [0.25, 0.125, 0.5])])
def test_decisive_change_needs_only_a_short_window(size: int, windows: list[float]) -> None:
    run = started(Scripted(size), decisions=1)
    after = [step.duration_s for step in run.steps[3:]]
    assert after[:3] == pytest.approx(windows)


def test_climb_takes_over_before_its_first_window_and_may_have_all_its_settings() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    begun: list[Controller] = []
    of_size = size_climb(ClimbSettings(period_s=0.5).native(), server.knobs, Objective())

    def open_climb(start: PoolTuple, warm: bool) -> Controller:
        begun.append(of_size(start, warm))
        return begun[0]

    run = run_of(Scripted(32), server, open_climb=open_climb)
    assert begun == [run.warm_start.climb]
    assert isinstance(begun[0], ClimbController)
    assert isinstance(begun[0].climber, SpectralClimber)
    assert begun[0].climber.mode == "OPTIMIZED"
    settings = WarmStartSettings()
    looks = next(at for at, step in enumerate(run.steps) if step.duration_s > settings.window_s)
    assert [step.duration_s for step in run.steps[looks:]] == pytest.approx([0.5] * (len(run.steps) - looks))


def test_many_knobs_climb_on_from_the_tuple_chosen() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    begun: list[PoolTuple] = []

    def many(start: PoolTuple, _warm: bool) -> Controller:
        begun.append(start)
        return KnobClimbController(ClimbSettings(), server.knobs, start, Objective())

    run = run_of(Scripted(32), server, open_climb=many)
    assert [pool_tuple.core for pool_tuple in begun] == [(32, 3, 10)]
    assert len({step.pool_tuple.timer_interval_ms for step in run.steps[-16:]}) > 1
    assert run.steps[-1].end_s == pytest.approx(8.0, abs=0.25)


def test_cut_short_it_recommends_the_best_tuple_that_it_has_looked_at() -> None:
    server = CurveServer(ARCH, connections=64, cpus=2)
    climb = size_climb(ClimbSettings(), server.knobs, Objective())
    warm_start = WarmStart(Scripted(3), server.knobs, Objective(), climb, WarmStartSettings(settle_s=0.0))
    trace = tune(server, warm_start, Objective(), horizon_s=0.5)
    assert [step.pool_tuple.pool_size for step in trace.steps] == [2, 2, 3]
    assert warm_start.climb is None
    assert server.tuple_in_force().pool_size == 2


def test_abstaining_in_a_short_window_measures_longer() -> None:
    run = started(Scripted(None, gain=1.0))
    assert run.steps[2].duration_s == pytest.approx(0.5)


def test_later_decisions_see_the_responses_and_the_best_seen_stays() -> None:
    predictor = Scripted(32, 64)
    run = started(predictor)
    assert predictor.seen == [[2], [2], [2, 32], [2, 32, 64]]
    assert run.steps[-1].pool_tuple.pool_size == 32


def test_a_model_that_is_done_probes_and_the_better_tuple_stays() -> None:
    run = started(Scripted(4, gain=3.0, probes=[32, 64]), decisions=3)
    assert tried(run) == [2, 4, 32, 64, 32]


def test_a_model_that_keeps_the_first_tuple_is_put_to_the_proof() -> None:
    run = started(Scripted(2, probes=[32]))
    assert tried(run) == [2, 32]


def test_without_a_probe_to_make_the_looking_ends() -> None:
    run = started(Scripted(32), decisions=3)
    assert tried(run) == [2, 32]
    assert len(run.predictions) == 2


@pytest.mark.parametrize(("promised", "near"), [(1.7, 32), (3.0, None)])
def test_near_a_promise_that_was_kept_only_neighbours_are_probed(promised: float, near: int | None) -> None:
    predictor = Scripted(32, gain=promised, probes=[16])
    run = started(predictor, decisions=2)
    assert tried(run) == [2, 32, 16, 32]
    assert predictor.near == [near]


def test_abstaining_climbs_cold_from_where_it_is() -> None:
    run = started(Scripted(None))
    assert run.predictions[-1].abstained
    sizes = [step.pool_tuple.pool_size for step in run.steps]
    assert sizes[0] == 2
    assert len(set(sizes)) > 1


@pytest.mark.parametrize(("scale", "size"), [(1.0, 32), (100.0, 2)])
def test_an_earlier_tuple_is_set_again_only_if_it_was_better_than_the_noise(scale: float, size: int) -> None:
    run = started(Scripted(32), decisions=1, curve=((1, 20.0 * scale), (2, 20.0 * scale), (32, 18.0 * scale)))
    assert run.steps[6].pool_tuple.pool_size == size
