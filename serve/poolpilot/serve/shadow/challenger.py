"""A predictor that is asked beside the one that acts: what it would set is logged, and valued by the known curves."""

from collections.abc import Sequence

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import PoolPilotError, in_words
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.advisor.trials_by_curves import LIKENESS
from poolpilot.models.latent.belief import MODEL_ERROR, Belief
from poolpilot.models.latent.likeness import prior_by_likeness
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Challenge, Proposal

ONE_DEVIATION = 0.6827
"""Share of a normal distribution within one standard deviation on either side."""


class Challenger:
    """Answers the windows that a champion has answered; see `Shadow`.

    Args:
        predictor: What would act in its place.
        curves: By which two tuples are valued until both were measured.
    """

    def __init__(self, predictor: Predictor, curves: ResponseCurves) -> None:
        self._predictor, self._curves = predictor, curves

    def __call__(
        self, windows: Sequence[Window], limits: KnobSpace, objective: Objective, champion: Proposal
    ) -> Challenge:
        """What it would set, and what that is worth beside the champion's.

        Args:
            windows: Measured windows of one workload; the latest is in force.
            limits: The knobs of the server.
            objective: What counts.
            champion: What the champion has proposed.
        """
        in_force = windows[-1].pool_tuple
        try:
            prediction = self._predictor.predict(windows, limits, objective)
            proposal = Proposal.of(prediction, objective.value(windows[-1]) - objective.value(windows[0]))
        except Exception as error:  # whatever it gets wrong, the champion acts
            failed = Proposal(pool_tuple=in_force, abstained=True, reason=f"the challenger fails: {in_words(error)}")
            return Challenge(proposal=failed, failed=True)
        ours, theirs = acted_on(proposal, in_force), acted_on(champion, in_force)
        if ours.core == theirs.core:
            return Challenge(proposal=proposal, expected=0.0, error=0.0)
        try:
            expected, uncertainty = self._difference(windows, limits, objective, ours, theirs)
        except PoolPilotError:
            return Challenge(proposal=proposal)
        return Challenge(proposal=proposal, expected=expected, error=uncertainty)

    def _difference(
        self, windows: Sequence[Window], limits: KnobSpace, objective: Objective, ours: PoolTuple, theirs: PoolTuple
    ) -> tuple[float, float]:
        """Ln goodput of one tuple minus that of another by the curves, and its standard error."""
        placed = PlacedCurves.on(self._curves, limits, objective)
        prior = prior_by_likeness(self._curves, windows, limits, LIKENESS)
        belief = Belief(placed.values, prior, placed.answers(windows), MODEL_ERROR)
        places = placed.nearest(ours), placed.nearest(theirs)
        mean, low, high = belief.gain(places[0], ONE_DEVIATION, over=places[1])
        # A workload differs from the curve most like it, whatever the curves among themselves say.
        return mean, ((high - low) ** 2 / 4.0 + MODEL_ERROR**2) ** 0.5


def acted_on(proposal: Proposal, in_force: PoolTuple) -> PoolTuple:
    """The tuple that would be in force if a proposal were followed: without advice the one that is."""
    return in_force if proposal.abstained else proposal.pool_tuple
