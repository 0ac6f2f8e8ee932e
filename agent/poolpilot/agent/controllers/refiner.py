"""The refiner: up to three decisions on one server, the first of which is the one-shot prediction.

It is the trial rule (`trial_rule.py`), which a warm start uses too, on windows that it measures itself.
"""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.controllers.trial_rule import MOST_DECISIONS, TrialRule
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import AnyServer
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor


class RefinerSettings(BaseModel):
    """How far the refiner goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int = Field(default=3, ge=1, le=MOST_DECISIONS, description="Configurations it may set at most.")
    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(), description="How long the response to a configuration is measured."
    )


@dataclass(frozen=True, slots=True)
class Refinement:
    """What the refiner did.

    Attributes:
        pool_tuple: The best tuple measured, which is in force.
        one_shot: The first decision; equal to the start where it left things alone.
        windows: The responses, oldest first: the starting tuple's, then one per change.
    """

    pool_tuple: PoolTuple
    one_shot: PoolTuple
    windows: tuple[Window, ...]


class Refiner:
    """Asks a predictor again after each of its tuples has shown its response, and ends on the best tuple measured.

    Args:
        predictor: What decides; it sees all windows so far.
        settings: How far it goes.
    """

    def __init__(self, predictor: Predictor, settings: RefinerSettings | None = None) -> None:
        self.predictor = predictor
        self.settings = settings or RefinerSettings()

    def refine(self, server: AnyServer, objective: Objective) -> Refinement:
        """Refines the tuple of a server under load, starting from the one in force.

        Raises:
            SettingError: The server's limits allow no tuple.
            ServerError: The server does not take a tuple.
        """
        measurement, decisions = self.settings.measurement, self.settings.decisions
        rule = TrialRule(self.predictor, server.knobs, objective, decisions)
        windows = [measure(server, server.tuple_in_force(), measurement).window]
        for _ in range(decisions):
            rule.ask(windows)
            trial = rule.next_trial(windows)
            if trial is None:
                break
            windows.append(measure(server, trial, measurement).window)
        best = rule.best(windows)
        return Refinement(server.apply(best.pool_tuple), rule.predictions[0].pool_tuple, tuple(windows))


def refine_recorded(refiner: Refiner, sweep: WorkloadSweep, start: PoolTuple, seed: int) -> Refinement:
    """Refines on the replay of a stored sweep, starting from a given tuple."""
    with RecordedServer(sweep, seed=seed, initial=start) as server:
        return refiner.refine(server, sweep.objective)
