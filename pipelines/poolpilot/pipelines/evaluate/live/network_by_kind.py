"""The score networks of several kinds of servers as one predictor: each answers where it knows the windows."""

from collections.abc import Iterable, Sequence

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import MODEL_FOR
from poolpilot.models.latent.one_observation import network_for
from poolpilot.models.predictor import ScorePredictor


class NetworkByKind:
    """Asks the network that has learned from servers of the windows' kind; abstains where there is none.

    Args:
        artefacts: The networks; of two for one kind the last one counts.
        trials: Whether what they name is measured and rolled back where it is worse, so that they may be bolder.
        any_machine: The network for simulated machines, and for pools of ours on machines that their network does not
            know; None for nobody.
    """

    def __init__(self, artefacts: Iterable[Artefact], *, trials: bool, any_machine: Artefact | None = None) -> None:
        made = ScorePredictor.for_trials if trials else ScorePredictor
        self._of_kind = {artefact.card.kind: made(artefact) for artefact in artefacts}
        self._any_machine = None if any_machine is None else made(any_machine)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        network = self._knowing(windows, limits)
        if network is not None:
            return network.predict(windows, limits, objective)
        in_force, kind = windows[-1].pool_tuple, windows[-1].server_kind
        reason = f"no network here has learned from servers of the kind {kind!r}; only trying tells"
        return Prediction(in_force, in_force, abstained=True, reasons=(reason,), model_digest="network_by_kind")

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        """The tuple that may be best; see `ProbingPredictor.probe`."""
        network = self._knowing(windows, limits)
        return None if network is None else network.probe(windows, limits, objective)

    def _knowing(self, windows: Sequence[Window], limits: KnobSpace) -> ScorePredictor | None:
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        kind = MODEL_FOR.get(windows[-1].server_kind)
        network = None if kind is None else self._of_kind.get(kind)
        if network is None or kind != "native":
            return network
        return network_for(network, self._any_machine, windows, limits)
