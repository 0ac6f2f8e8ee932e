"""One workload, live: every method on a server of its own, every choice on windows it was not made by."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.native_pool import RequestClass, Step, Workload
from poolpilot.pipelines.evaluate.live.judging.live_result import LiveResult, SweptTuple
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings, draws_seed, run_workload
from poolpilot.pipelines.evaluate.stage import Stage

QUICK = MeasurementSettings(settle_s=0.0, window_s=1.0, window_ticks=0.0, keep_shares=(0.5,), final_repeats=1)
SETTINGS = LiveRunSettings(
    grid=MachineGrid(sizes=(1, 16, 64), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(500,)),
    sweep=QUICK,
    budget_s=10.0,
    period_s=1.0,
    paired=PairedSettings(measurement=QUICK),
)


class Steady(Controller):
    """Sets one size from the second window on."""

    def __init__(self, size: int) -> None:
        self.size = size

    def suggest(self) -> Trial:
        return Trial(PoolTuple(self.size, 3, 500))

    def observe(self, window: Window) -> None:
        assert window.throughput_per_s > 0.0


def steady(size: int) -> OpenMethod:
    def opened(knobs: KnobSpace, objective: Objective, _: int) -> Controller:
        assert knobs.knobs["pool_size"].high >= size
        assert objective.price_of_thread > 0.0
        return Steady(size)

    return opened


@pytest.fixture
def opened() -> list[CurveServer]:
    """The servers that were opened, in order."""
    return []


@pytest.fixture
def stage(opened: list[CurveServer]) -> Stage:
    def open_server() -> PoolServer:
        opened.append(CurveServer([(1, 100), (16, 1200), (64, 600)], cpus=4, noise=0.01, seed=len(opened)))
        return opened[-1]

    return Stage("mine", "ours", 3, Objective(), open_server)


@pytest.fixture
def result(stage: Stage) -> LiveResult:
    done: list[str] = []
    found = run_workload(stage, {"good": steady(16), "poor": steady(1)}, SETTINGS, done.append)
    assert done == ["sweep", "good", "poor", "comparison"]
    return found


def test_every_method_has_a_server_of_its_own(result: LiveResult, opened: list[CurveServer]) -> None:
    assert len(opened) == 4
    assert {run.method for run in result.runs} == {"reference", "default", "default_again", "good", "poor"}


def test_choices_are_compared_with_the_best_of_the_sweep(result: LiveResult) -> None:
    assert result.run_of("reference").chosen == (16, 3, 500)
    assert result.run_of("good").goodput_share == pytest.approx(1.0, abs=0.05)
    assert result.run_of("poor").goodput_share == pytest.approx(100 / 1200, rel=0.1)
    assert result.run_of("default").chosen == (4, 3, 500)
    assert result.censored is None


def test_the_way_is_counted_with_its_unsafe_windows(result: LiveResult) -> None:
    good, poor = result.run_of("good"), result.run_of("poor")
    assert (good.tries, poor.tries, result.run_of("default").tries) == (1, 1, 0)
    assert good.unsafe == 0.0
    assert poor.unsafe == pytest.approx(0.9)
    assert good.on_the_way is not None
    assert poor.on_the_way is not None
    assert good.on_the_way > 0.9 > 0.2 > poor.on_the_way


def test_default_is_scored_twice_and_differs_by_noise_alone(result: LiveResult) -> None:
    again, default = result.run_of("default_again"), result.run_of("default")
    assert again.chosen == default.chosen
    assert result.noise == pytest.approx(again.value - default.value)
    assert result.noise != 0.0
    assert abs(result.noise) < max(5.0 * result.noise_error, 0.05)


def test_latencies_are_told_against_the_reference_and_throughput_against_the_default(result: LiveResult) -> None:
    assert result.run_of("reference").p99_ratio == {"all": 1.0}
    assert result.run_of("poor").p99_ratio["all"] > 5.0
    assert result.run_of("default").class_share == {"all": 1.0}
    assert result.run_of("good").class_share["all"] == pytest.approx(1200 / 320, rel=0.1)


def test_seconds_of_trying_and_the_regret_then_are_counted(result: LiveResult) -> None:
    good = result.run_of("good")
    assert good.trying_s == pytest.approx(1.0)
    assert good.trying_regret == pytest.approx(1.0 - 320 / 1200, abs=0.1)
    assert result.run_of("default").trying_regret is None


def test_every_configuration_of_the_sweep_is_told_with_its_error(result: LiveResult) -> None:
    chosen = {run.chosen for run in result.runs}
    assert {result.run_of("reference").chosen, result.run_of("default").chosen} <= {one.core for one in result.swept}
    assert len({one.core for one in result.swept}) == len(result.swept) >= len(chosen)
    assert all((one.error is None) == (one.windows == 1) for one in result.swept)
    best = max(result.swept, key=lambda one: one.value)
    assert best.error is not None


def test_a_configuration_of_the_sweep_has_the_error_of_its_mean() -> None:
    assert SweptTuple.of((2, 3, 500), [1.0, 3.0]) == SweptTuple((2, 3, 500), 2, 2.0, 1.0)
    assert SweptTuple.of((2, 3, 500), [1.0]) == SweptTuple((2, 3, 500), 1, 1.0, None)


def test_result_survives_json(result: LiveResult) -> None:
    assert LiveResult.from_dict(result.as_dict()) == result


def test_same_seed_gives_the_same_reference(stage: Stage) -> None:
    first, second = (run_workload(stage, {}, SETTINGS, lambda _: None) for _ in range(2))
    assert first.run_of("reference").chosen == second.run_of("reference").chosen
    assert np.isfinite([run.error for run in first.runs]).all()


def test_no_method_sees_a_window_of_the_comparison(stage: Stage, opened: list[CurveServer]) -> None:
    seen: list[int] = []

    class Watching(Steady):
        def observe(self, window: Window) -> None:
            super().observe(window)
            seen.append(len(opened))

    run_workload(stage, {"watching": lambda _, __, ___: Watching(16)}, SETTINGS, lambda _: None)
    assert set(seen) == {2}
    assert len(opened) == 3


class Looking(Steady):
    """Takes one long window first, then a tuple that is unsafe for a short one, then a good one."""

    trials: ClassVar = [Trial(PoolTuple(64, 3, 500), 7.0), Trial(PoolTuple(1, 3, 500), 1.0)]

    def __init__(self) -> None:
        super().__init__(16)
        self.left = list(self.trials)

    def suggest(self) -> Trial:
        return self.left.pop(0) if self.left else super().suggest()


def test_unsafe_is_a_share_of_seconds_and_none_of_what_had_no_server(stage: Stage) -> None:
    """Before, a short unsafe window counted as much as a long safe one, and the default had no unsafe windows."""
    result = run_workload(stage, {"looking": lambda _, __, ___: Looking()}, SETTINGS, lambda _: None)
    assert result.run_of("looking").unsafe == pytest.approx(0.1)
    assert result.run_of("default").unsafe is None


def test_what_methods_draw_differs_from_workload_to_workload_and_repeats(stage: Stage) -> None:
    stages = [stage, replace(stage, name="other"), replace(stage, seed=4)]
    seeds = [draws_seed(one, SETTINGS.seed) for one in stages]
    assert len({*seeds, draws_seed(stage, 1)}) == 4
    assert seeds == [draws_seed(one, SETTINGS.seed) for one in stages]


def test_comparison_in_virtual_time_has_other_draws_than_what_was_chosen_by(stage: Stage) -> None:
    """Before, half of the windows that the reference had been chosen by were judged again."""
    made = Workload("mine", "ours", (RequestClass("reads", (Step("cpu", us=500.0),)),), connections=64, cpus=4)
    opened: list[str] = []

    def opens(name: str) -> PoolServer:
        opened.append(name)
        return SimulatedServer(made)

    simulated = replace(
        stage, open_server=lambda: opens("chosen by"), open_again=lambda: opens("judged by"), in_virtual_time=True
    )
    steps: list[str] = []
    run_workload(simulated, {"good": steady(16)}, SETTINGS, lambda step: steps.append(f"{step} {len(opened)}"))
    before = int(steps[-1].removeprefix("comparison "))
    assert set(opened[:before]) == {"chosen by"}
    assert set(opened[before:]) == {"judged by"}


class Changing(CurveServer):
    """Serves well until it has been opened once: what the sweep found best does not repeat."""

    def __init__(self, *, later: bool) -> None:
        super().__init__([(1, 100), (16, 60 if later else 1200), (64, 600)], cpus=4)


def test_reference_that_does_not_repeat_censors_the_workload_in_words() -> None:
    opened: list[Changing] = []

    def open_server() -> PoolServer:
        opened.append(Changing(later=bool(opened)))
        return opened[-1]

    stage = Stage("mine", "ours", 3, Objective(), open_server)
    result = run_workload(stage, {"large": steady(64)}, SETTINGS, lambda _: None)
    assert result.censored is not None
    assert result.censored.startswith("the reference (16, 3, 500), best of the sweep, does not repeat")
