"""The refiner: up to three decisions on one server, the first of which is the one-shot prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.observation import ENTRIES
from poolpilot.env.server import AnyServer
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction, Predictor, ProbingPredictor


class RefinerSettings(BaseModel):
    """How far the refiner goes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int = Field(default=3, ge=1, le=ENTRIES - 1, description="Tuples it may set at most.")
    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(), description="How long the response to a tuple is measured."
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
    """Asks a predictor again after each of its tuples has shown its response.

    Where the predictor names a tuple that has been measured, it probes, if the predictor can, or stops; it stops where
    the predictor abstains. It ends on the best tuple that it measured: feasible before infeasible, then J.

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
        measurement = self.settings.measurement
        windows = [measure(server, server.tuple_in_force(), measurement).window]
        decided = [windows[0].pool_tuple]
        for _ in range(self.settings.decisions):
            prediction = self.predictor.predict(windows, server.knobs, objective)
            decided.append(prediction.pool_tuple)
            trial = self._trial(prediction, windows, server.knobs, objective)
            if trial is None:
                break
            windows.append(measure(server, trial, measurement).window)
        best = max(windows, key=lambda window: (objective.feasible(window, windows[0]), objective.value(window)))
        return Refinement(server.apply(best.pool_tuple), decided[1], tuple(windows))

    def _trial(
        self, prediction: Prediction, windows: Sequence[Window], limits: KnobSpace, objective: Objective
    ) -> PoolTuple | None:
        if prediction.abstained:
            return None
        if prediction.pool_tuple.core not in {window.pool_tuple.core for window in windows}:
            return prediction.pool_tuple
        if isinstance(self.predictor, ProbingPredictor):
            return self.predictor.probe(windows, limits, objective, near=None)
        return None


def refine_recorded(refiner: Refiner, sweep: WorkloadSweep, start: PoolTuple, seed: int) -> Refinement:
    """Refines on the replay of a stored sweep, starting from a given tuple."""
    with RecordedServer(sweep, seed=seed, initial=start) as server:
        return refiner.refine(server, sweep.objective)
