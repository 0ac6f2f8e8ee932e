"""A latent bandit: what known response curves make most promising is tried, until none promises enough.

What is known before a trial is how like the workloads of the library the server's windows look (`likeness.py`); what
every trial adds is how its answer compares with theirs (`belief.py`). Where transactions on a MariaDB fight over rows,
which no ratio of the library shows, fewer groups may be tried first (docs/decisions.md, 47).
"""

from collections.abc import Sequence
from dataclasses import replace

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.prediction import Prediction, Ranking
from poolpilot.models.advice.reasons import percent
from poolpilot.models.latent.belief import MODEL_ERROR, Belief
from poolpilot.models.latent.constants import next_constant
from poolpilot.models.latent.likeness import LikenessSettings, curves_like, prior_by_likeness
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.floor_limits import forbidden_by_floors
from poolpilot.models.observations.wait_rules import fewer_to_try

LIKENESS = LikenessSettings(bandwidth=0.15, doubt=0.7)
"""How far what windows look like counts beside answers."""

TRIAL_PRICE = 0.2
"""Weight of what a trial itself loses beside what is lost from then on."""

MIN_IMPROVEMENT = 0.001
"""Regret that a further trial must be expected to take off."""

INTERVAL = 0.8
"""Share of the belief that intervals hold."""


def trials_by_curves(
    curves: ResponseCurves,
    windows: Sequence[Window],
    limits: KnobSpace,
    objective: Objective,
    most: int = 1,
    *,
    has_some: bool = False,
) -> Ranking:
    """Names the configurations whose trial promises most until none promises enough, then the best one measured.

    Curves are stated for any machine, and what a server does not show is left out of the comparison, so they serve any
    number of processors; on a machine larger than any known one they try all the same, and say so. Where the processors
    of the server are not known they abstain.

    Args:
        curves: The known response curves.
        windows: What was measured.
        limits: The knobs of the server and their ranges.
        objective: What counts.
        most: Trials wanted at most.
        has_some: Whether a few trials may be spent on what promises nothing in numbers: fewer groups where rows are
            fought over, or constants where nobody knows the server. That is not for who weighs each trial.
    """
    in_force = windows[-1].pool_tuple
    if limits.processors is None:
        constant = next_constant(curves, windows, limits, objective) if has_some else None
        return Ranking(constant or Prediction(in_force, in_force, True, (UNKNOWN_CPUS,), curves.digest))
    found = _by_belief(curves, windows, limits, objective, most)
    if has_some and (fewer := _fewer_groups(curves, windows, limits)) is not None:
        found = [fewer, *(each for each in found if each.pool_tuple.core not in (fewer.pool_tuple.core, in_force.core))]
    beyond = curves.beyond(limits)
    told = [
        within_bound(replace(each, reasons=(*each.reasons, *beyond)), windows, objective, to_measure=True)
        for each in found[:most]
    ]
    return Ranking(told[0], tuple(each for each in told[1:] if each.verdict == "change"))


def _fewer_groups(curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace) -> Prediction | None:
    """Fewer groups as the first trial where rows are fought over."""
    found = fewer_to_try(windows[0], limits) if len(windows) == 1 else None
    if found is None:
        return None
    return Prediction(found.pool_tuple, windows[0].pool_tuple, False, (found.reason,), curves.digest)


def _by_belief(
    known: ResponseCurves,
    windows: Sequence[Window],
    limits: KnobSpace,
    objective: Objective,
    most: int,
) -> list[Prediction]:
    """The trials that promise enough, or the best one measured."""
    curves = curves_like(known, windows)
    placed = PlacedCurves.on(curves, limits, objective)
    prior = prior_by_likeness(curves, windows, limits, LIKENESS)
    broken = [window for window in windows[1:] if not objective.may_be_kept(window, windows[0])]
    not_kept = frozenset(placed.nearest(window.pool_tuple) for window in broken)
    belief = Belief(placed.values, prior, placed.answers(windows), MODEL_ERROR, not_kept)
    usable = placed.usable(windows, limits)
    places = belief.most_promising(TRIAL_PRICE, usable, most)
    if not places or belief.improvement[places[0]] < MIN_IMPROVEMENT:
        return [_best_measured(windows, belief, objective, known.digest)]
    promising = [place for place in places if belief.improvement[place] >= MIN_IMPROVEMENT]
    return [_tried(windows, belief, placed.tuples[place], place, known.digest) for place in promising]


def _tried(windows: Sequence[Window], belief: Belief, pool_tuple: PoolTuple, place: int, digest: str) -> Prediction:
    in_force = windows[-1].pool_tuple
    named = in_force.with_core(pool_tuple.core)
    mean, low, high = belief.gain(place, INTERVAL)
    words = f"between {percent(low)} and {percent(high)} over {windows[0].pool_tuple}"
    return Prediction(
        pool_tuple=named,
        in_force=in_force,
        abstained=False,
        reasons=(f"promises most of what was not tried yet: {words}",),
        model_digest=digest,
        expected_gain=mean,
        gain_low=low,
        gain_high=high,
        improvement=max(float(belief.improvement[place]), 0.0),
    )


def _best_measured(windows: Sequence[Window], belief: Belief, objective: Objective, digest: str) -> Prediction:
    best, forbidden = objective.best(windows), forbidden_by_floors(windows, objective)
    gain = objective.value(best) - objective.value(windows[0])
    left = float(belief.improvement.max())
    return Prediction(
        pool_tuple=best.pool_tuple,
        in_force=windows[-1].pool_tuple,
        abstained=False,
        reasons=(
            f"{best.pool_tuple} is the best of {len(windows)} measured; a further trial is expected to take "
            f"{left:.1%} off what it may lose",
            *(() if forbidden is None else (forbidden,)),
        ),
        model_digest=digest,
        expected_gain=gain,
        gain_low=gain,
        gain_high=gain,
    )
