"""The grid on curves: who runs where, and what is scored."""

from dataclasses import replace

import numpy as np
import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.bench.climbing import curve_suite
from poolpilot.pipelines.bench.climbing.cells import Noise
from poolpilot.pipelines.bench.climbing.curve_suite import ABLATIONS, CurveSuite
from poolpilot.pipelines.bench.climbing.reference_controllers import BASELINES, SPECTRAL
from poolpilot.pipelines.bench.climbing.shapes import Landscape
from poolpilot.pipelines.bench.climbing.suite import Task

SMALL = CurveSuite(
    controllers=(SPECTRAL, "dotnet"),
    shapes=("roof", "flat"),
    scales=(32,),
    noises=(Noise(0.0), Noise(0.05)),
    starts=("one", "largest"),
    shift_scales=(128,),
    seeds=3,
    samples=200,
    price_of_thread=0.02,
    variants={},
)


def test_noisy_cells_are_repeated_and_controllers_interleaved() -> None:
    tasks = SMALL.tasks()
    assert len(tasks) == len(set(tasks)) == (4 + 2) * 2 + (4 + 2) * 3 * 2
    assert [task.controller for task in tasks[:4]] == [SPECTRAL, "dotnet"] * 2
    assert {task.seed for task in tasks if "5 %" in task.cell} == {0, 1, 2}
    assert {task.seed for task in tasks if "0 %" in task.cell} == {0}


def test_cells_are_described() -> None:
    cell = "roof of 128, 5 %, shifted to more threads"
    assert cell in {task.cell for task in SMALL.tasks()}
    described = SMALL.describe(cell)
    assert (described["shape"], described["scale"], described["shift"]) == ("roof", 128, "to more threads")


@pytest.mark.parametrize("controller", [SPECTRAL, *BASELINES])
def test_run_is_the_same_twice(controller: str) -> None:
    task = Task(controller, "roof of 32, 5 %, from one", 2)
    found = SMALL.run(task)
    assert replace(SMALL).run(task) == found
    assert 0.0 <= found.end_lost <= 1.0
    assert 0.0 <= found.objective_lost <= 1.0


def test_seeds_differ() -> None:
    scores = [SMALL.run(Task(SPECTRAL, "roof of 32, 5 %, from one", seed)) for seed in (0, 1)]
    assert scores[0] != scores[1]


def test_ours_is_at_the_optimum_at_rest() -> None:
    found = SMALL.run(Task(SPECTRAL, "roof of 32, 0 %, from one", 0))
    assert found.end_lost <= 0.05
    assert found.samples_to_stay is not None


@pytest.mark.parametrize(("start", "size"), [("one", 1), ("root", 6), ("optimum", 11), ("largest", 32)])
def test_run_begins_where_its_cell_says(start: str, size: int) -> None:
    suite = replace(SMALL, starts=(start,), samples=1)
    found = suite.run(Task(SPECTRAL, f"roof of 32, 0 %, from {start}", 0))
    assert found.objective_lost == pytest.approx(Landscape.of("roof", 32, 0.02).regrets[size - 1])


def test_only_what_follows_a_shift_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_suite, "play", lambda _climber, start, _landscapes, noise: np.full(len(noise), start))
    found = SMALL.run(Task(SPECTRAL, "roof of 128, 0 %, shifted to fewer threads", 0))
    after = Landscape.of("roof", 128, 0.02, 1 / 12)
    assert found.objective_lost == pytest.approx(after.regrets[43 - 1])


@pytest.mark.parametrize("variant", ABLATIONS)
def test_every_ablation_climbs_otherwise_than_ours(variant: str) -> None:
    suite = replace(SMALL, controllers=tuple(ABLATIONS), variants=ABLATIONS)
    tasks = [task for task in suite.tasks() if task.controller == variant]
    same = [suite.run(task) == SMALL.run(replace(task, controller=SPECTRAL)) for task in tasks]
    assert all(same) == (variant == SPECTRAL)


def test_price_of_the_objective_is_that_of_our_climber() -> None:
    dear = replace(SMALL, shapes=("soft_knee",), price_of_thread=0.5)
    found = dear.run(Task(SPECTRAL, "soft_knee of 32, 0 %, from largest", 0))
    assert found.end_lost <= 0.05
    unpriced = replace(dear, variants={"unpriced": {"price_of_thread": 0.0}})
    assert unpriced.run(Task("unpriced", "soft_knee of 32, 0 %, from largest", 0)).end_lost > found.end_lost + 0.05


def test_variant_with_an_unknown_setting_is_refused() -> None:
    suite = replace(SMALL, variants={"typo": {"wave_periods": 4}})
    with pytest.raises(SettingError, match="no setting named 'wave_periods'"):
        suite.make("typo")
