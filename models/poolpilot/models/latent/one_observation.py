"""Advice after one observation: a network's where it is sure, else what the known response curves say."""

from collections.abc import Sequence
from dataclasses import replace

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.no_circle import without_circle
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.artefact import Artefact
from poolpilot.models.latent.latent_advisor import LatentAdvisor
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import furthest_within_floors, near_first
from poolpilot.models.observations.wait_rules import WaitRules
from poolpilot.models.predictor import ScorePredictor


class OneObservation:
    """Asks a network, and the known curves where it abstains or its change may lose.

    A network tells more from one window of a machine and a workload that it knows; but of its changes whose interval
    holds a clear loss most did lose. On machines that it does not know it abstains.

    Args:
        network: Asked first.
        advisor: Asked where the network is not sure; its `max_loss` is what an interval may hold.
        rules: What the waits of an observation say by themselves where neither of the two advises a change; None for
            servers whose rounds are timed, where the two see all that these would.
        any_machine: Learned from simulated machines of any size: asked instead of `network` about these, and about
            servers of a number of processors that `network` does not know; None for nobody.
    """

    def __init__(
        self,
        network: ScorePredictor,
        advisor: LatentAdvisor,
        rules: WaitRules | None = None,
        any_machine: ScorePredictor | None = None,
    ) -> None:
        self.network = network
        self.advisor = advisor
        self.rules = rules
        self.any_machine = any_machine

    @property
    def artefact(self) -> Artefact:
        """That of `network`."""
        return self.network.artefact

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`. Where neither is sure it abstains as the curves do.

        Where windows of several tuples are given, as somebody has seen them who followed the advice, it never leads
        back to one of them.
        """
        told = self._told(windows, limits, objective)
        near = near_first(windows[0], objective) if told.verdict == "change" and len(windows) == 1 else None
        return told if near is None else replace(told, reasons=(*told.reasons, near))

    def _told(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        network = network_for(self.network, self.any_machine, windows, limits)
        told = network.predict(windows, limits, objective)
        if told.abstained or self._may_lose(network, told, windows, limits, objective):
            told = self.advisor.predict(windows, limits, objective)
        if told.verdict != "change":
            told = self._by_rule(windows, limits, objective) or told
        return without_circle(told, windows, objective)

    def _by_rule(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction | None:
        """What a rule advises, as far as floors allow, its gain not estimated; None where no rule applies or may."""
        if self.rules is None or disturbances_of(windows):
            return None
        found = self.rules.advise(windows[-1], limits)
        step = None if found is None else furthest_within_floors(found.pool_tuple, windows, objective)
        if found is None or step is None:
            return None
        reasons = (found.reason, *self.advisor.curves.beyond(limits))
        ruled = Prediction(step, windows[-1].pool_tuple, False, reasons, self.rules.digest)
        return within_bound(ruled, windows, objective)

    def _may_lose(
        self,
        network: ScorePredictor,
        told: Prediction,
        windows: Sequence[Window],
        limits: KnobSpace,
        objective: Objective,
    ) -> bool:
        """Whether a change may lose to what is in force; after several windows its gain is stated over the first."""
        if told.verdict != "change" or told.gain_low is None:
            return False
        beside = len(windows) > 1
        low = network.prefer(windows, limits, objective).over_in_force.low if beside else told.gain_low
        return low < -self.advisor.settings.max_loss


def network_for(
    network: ScorePredictor, any_machine: ScorePredictor | None, windows: Sequence[Window], limits: KnobSpace
) -> ScorePredictor:
    """Which of two networks knows such a machine.

    Args:
        network: Knows live servers of some numbers of processors.
        any_machine: Learned from simulated machines of any size: knows these and all other numbers; None for nobody.
        windows: What was seen.
        limits: The processors.
    """
    if any_machine is None or limits.processors is None:
        return network
    if windows and windows[-1].server_kind == "simulated":
        return any_machine
    return network if network.artefact.card.out_of_distribution.knows_cpus(limits.processors) else any_machine
