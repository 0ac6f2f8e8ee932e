"""What evaluation refines is what production runs: the same rule, on the same windows, ends on the same tuple."""

from dataclasses import replace

import pytest

from poolpilot.agent.baselines.static import DefaultPredictor
from poolpilot.agent.controllers.refiner import RefinerSettings
from poolpilot.agent.controllers.warm_start import WarmStart, WarmStartSettings, climb_controller
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sample_sweeps import sample_families, sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.baselines import methods_of
from poolpilot.pipelines.evaluate.evaluation import EvaluationSettings
from poolpilot.pipelines.evaluate.replayed_methods import evaluate_methods, starts_of

SETTINGS = EvaluationSettings(start_sizes=(4, 16), replays=1, resamples=100)
DECISIONS = RefinerSettings().decisions
WARM_START = WarmStartSettings(decisions=DECISIONS, measurement=MeasurementSettings(settle_s=0.0))
"""As many decisions as the refiner has; those of a warm start are for a live server."""


def without_noise(sweep: WorkloadSweep) -> WorkloadSweep:
    """The same sweep with one window a tuple and no classes, so that no seed can make two replays differ."""
    entries = {
        core: replace(entry, windows=entry.windows[:1], values=entry.values[:1])
        for core, entry in sweep.server_view().entries.items()
    }
    kept = replace(sweep, entries=entries)
    return replace(kept, again_values=(kept.oracle_value,))


def held_by_a_warm_start(sweep: WorkloadSweep, start: PoolTuple) -> tuple[PoolTuple, int]:
    """The tuple that the climb of `poolpilot climb --warm` takes over at, and how often the model was asked."""
    with RecordedServer(sweep, initial=start) as server:
        predictor = ScorePredictor.for_trials(load_champion())
        controller = climb_controller(
            ClimbSettings(), server, sweep.objective, predictor=predictor, warm_start=WARM_START
        )
        assert isinstance(controller, WarmStart)
        trace = tune(server, controller, sweep.objective, period_s=0.1, horizon_s=5.0)
        return trace.final_tuple, len(controller.predictions)


@pytest.fixture(scope="module")
def replayable() -> list[WorkloadSweep]:
    return [without_noise(sample_sweeps(family)[0]) for family in sample_families()]


def test_refined_method_of_the_evaluation_chooses_what_a_warm_start_holds(replayable: list[WorkloadSweep]) -> None:
    artefact = load_champion()
    methods = methods_of(artefact, {"sbs": DefaultPredictor()}, DECISIONS, SETTINGS)
    evaluation = evaluate_methods(replayable, methods, SETTINGS, "test")
    played = [(sweep, start) for sweep in replayable for start in starts_of(sweep, SETTINGS).values()]
    asked = []
    for outcome, (sweep, start) in zip(evaluation.outcomes["refined"], played, strict=True):
        held, times = held_by_a_warm_start(sweep, start)
        assert held.core == outcome.chosen, (sweep.workload_id, start)
        asked.append(times)
    assert max(asked) > 2  # some were tried and refined, not only looked at
