"""What answers: the networks, the known curves or rules on waits, by the model, the kind of server and the purpose.

A network tells more from one window of a machine and a workload that it knows; but of its changes whose interval holds
a clear loss most did lose, and on machines that it does not know it abstains. Then the curves are asked, and where they
advise no change either, rules say what waits call for by themselves: on a MariaDB alone, since where rounds are timed
the other two see all that these would.

Who measures what follows, and goes back, is named trials by the curves, whatever the server.
"""

from collections.abc import Sequence
from dataclasses import replace

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.no_circle import without_circle
from poolpilot.models.advice.prediction import Prediction, Ranking
from poolpilot.models.advisor.look_by_curves import MAX_LOSS, look_by_curves
from poolpilot.models.advisor.model import Model
from poolpilot.models.advisor.trials_by_curves import trials_by_curves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import furthest_within_floors, near_first
from poolpilot.models.observations.wait_rules import DIGEST, rule_for
from poolpilot.models.predictor import ScorePredictor


def advised(model: Model, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
    """What is to be set unmeasured, or left alone, or that nobody knows; see `Advisor.rank`."""
    networks = model.networks_of(windows[-1].server_kind)
    curves = model.curves
    if networks is None:
        alone = None if curves is None else look_by_curves(curves, windows, limits, objective)
        return alone or _nobody(windows[-1])
    network = networks.knowing(windows, limits)
    told = network.predict(windows, limits, objective)
    if networks.alone or curves is None:
        return told
    if told.abstained or _may_lose(network, told, windows, limits, objective):
        told = look_by_curves(curves, windows, limits, objective)
    if told.verdict != "change" and windows[-1].server_kind == "mariadb":
        told = _by_rule(curves, windows, limits, objective) or told
    told = without_circle(told, windows, objective)
    near = near_first(windows[0], objective) if told.verdict == "change" and len(windows) == 1 else None
    return told if near is None else replace(told, reasons=(*told.reasons, near))


def trials(
    model: Model, windows: Sequence[Window], limits: KnobSpace, objective: Objective, most: int, *, has_some: bool
) -> Ranking:
    """What is to be measured next, or that what was measured is good enough; see `Advisor.rank`.

    Args:
        model: What was learned.
        windows: What was measured.
        limits: The knobs of the server and their ranges.
        objective: What counts.
        most: Trials wanted at most.
        has_some: Whether a few trials may be spent on what promises nothing in numbers: a rule's, or constants where
            nobody knows the server.
    """
    networks = model.networks_of(windows[-1].server_kind)
    if model.curves is not None and not (networks is not None and networks.alone):
        return trials_by_curves(model.curves, windows, limits, objective, most, has_some=has_some)
    if networks is None:
        return Ranking(_nobody(windows[-1]))
    bolder = ScorePredictor.for_trials(networks.knowing(windows, limits).artefact)
    return Ranking(bolder.predict(windows, limits, objective))


def _by_rule(
    curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace, objective: Objective
) -> Prediction | None:
    """What a rule advises, as far as floors allow, its gain not estimated; None where no rule applies or may."""
    if disturbances_of(windows):
        return None
    found = rule_for(windows[-1], limits)
    step = None if found is None else furthest_within_floors(found.pool_tuple, windows, objective)
    if found is None or step is None:
        return None
    reasons = (found.reason, *curves.beyond(limits))
    ruled = Prediction(step, windows[-1].pool_tuple, False, reasons, DIGEST)
    return within_bound(ruled, windows, objective)


def _may_lose(
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
    return low < -MAX_LOSS


def _nobody(latest: Window) -> Prediction:
    reason = f"no network here has learned from servers of the kind {latest.server_kind!r}; only trying tells"
    return Prediction(latest.pool_tuple, latest.pool_tuple, True, (reason,), model_digest="none")
