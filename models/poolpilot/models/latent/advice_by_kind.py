"""What `poolpilot advise` says of any server or windows: its kind's advisor, with given models."""

from collections.abc import Iterable, Sequence

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.artefact import Artefact
from poolpilot.models.champion import MODEL_FOR
from poolpilot.models.latent.latent_advisor import LatentAdvisor, LatentAdvisorSettings
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped import one_observation


class AdviceByKind:
    """Looks as production does; of a MariaDB it sees what the server counts by itself, no latencies of clients.

    Args:
        curves: Asked where the network of a kind is not sure, and alone where there is none.
        networks: The networks; of two for one kind the last one counts.
        settings: When the curves speak up.
        any_machine: The network for simulated machines, and for pools of ours on machines that their network does not
            know.
    """

    def __init__(
        self,
        curves: ResponseCurves,
        networks: Iterable[Artefact],
        settings: LatentAdvisorSettings | None = None,
        any_machine: Artefact | None = None,
    ) -> None:
        self._curves = LatentAdvisor(curves, settings)
        of_kind = {artefact.card.kind: artefact for artefact in networks}
        self._advisors = {
            server: one_observation(server, of_kind[kind], curves, settings, any_machine if kind == "native" else None)
            for server, kind in MODEL_FOR.items()
            if kind in of_kind
        }

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        of_mariadb = windows[-1].server_kind == "mariadb"
        seen = [window.without_classes() for window in windows] if of_mariadb else windows
        predictor: Predictor = self._advisors.get(windows[-1].server_kind, self._curves)
        return predictor.predict(seen, limits, objective)
