"""What a trial leaves to long statements: the rows that are read, where no client reports classes.

Reports and dumps come and go, so that a fall of the rows counts only beyond what chance explains: `rows_noise` is the
standard deviation of ln rows between windows of the incumbent. Falls are summed over the steps as they were seen,
with their variances, since several that chance may explain one by one can come to more than it explains.
"""

import math
import statistics
from collections.abc import Sequence

from poolpilot.env.floors import KeptFloor
from poolpilot.env.objective import ROWS
from poolpilot.serve.tuner.machine.evidence.paired_trial import (
    OF_A_DIFFERENCE,
    SHARED,
    UNSEEN_NOISE,
    Z_HARM,
    PairedTrial,
    noise_of,
)
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading


def starves(trial: PairedTrial, min_rows_share: float, held_on: Sequence[Reading] = ()) -> str | None:
    """Why long statements get too little under the candidate, as a sentence; None where they get enough.

    Args:
        trial: The trial.
        min_rows_share: Share of the rows read a second at first that must go on being read; 0 for no such floor.
        held_on: Windows in which the candidate has held on.
    """
    fall = rows_fall(trial, held_on)
    if fall is None or fall <= 0.0:
        return None
    left = _left(trial.rows_lost + fall, trial.rows_variance + rows_variance(trial, held_on), min_rows_share)
    if not left.starves(Z_HARM):
        return None
    return (
        f"{trial.candidate} leaves {100.0 * left.kept:.0f} % of the rows that were read at "
        f"first, and their floor is {100.0 * min_rows_share:.0f} %: long statements starve"
    )


def starved_before(trial: PairedTrial, min_rows_share: float) -> str | None:
    """Why long statements got too little before, beside what the candidate leaves them; None where they got enough."""
    fall = rows_fall(trial)
    if fall is None or not (left := _left(-fall, rows_variance(trial), min_rows_share)).starves(Z_HARM):
        return None
    return (
        f"{trial.before} leaves {100.0 * left.kept:.0f} % of the rows that are read under {trial.candidate}, and "
        f"their floor is {100.0 * min_rows_share:.0f} %: long statements starve under it"
    )


def rows_fall(trial: PairedTrial, held_on: Sequence[Reading] = ()) -> float | None:
    """How far ln rows read a second under the candidate are below those before; None where they are not known."""
    before = [each.rows_read_per_s for each in trial.befores]
    tried = [each.rows_read_per_s for each in (*trial.candidates, *held_on)]
    if not tried or any(rows is None for rows in (*before, *tried)):
        return None
    rows = [[math.log(each) for each in side if each is not None] for side in (before, tried)]
    return statistics.fmean(rows[0]) - statistics.fmean(rows[1])


def rows_variance(trial: PairedTrial, held_on: Sequence[Reading] = ()) -> float:
    """Variance of `rows_fall` by chance."""
    windows = max(len(trial.candidates) + len(held_on), 1)
    return trial.rows_noise**2 * SHARED * OF_A_DIFFERENCE / windows


def falls_clearly(trial: PairedTrial) -> bool:
    """Whether fewer rows are read under the candidate beyond chance, by this step alone."""
    fall = rows_fall(trial)
    return fall is not None and fall > Z_HARM * math.sqrt(rows_variance(trial))


def _left(fall: float, variance: float, min_rows_share: float) -> KeptFloor:
    """What a fall of ln rows leaves of their floor; its noise is how rows scatter between windows."""
    return KeptFloor(ROWS, min_rows_share, math.exp(-fall), math.sqrt(variance), of_class=False)


def rows_noise(baseline: Sequence[Reading], enough: int) -> float:
    """Standard deviation of ln rows read between windows; what is assumed where fewer were seen than are enough."""
    rows = [each.rows_read_per_s for each in baseline]
    if not rows or any(each is None for each in rows):
        return UNSEEN_NOISE
    found = noise_of([each.model_copy(update={"goodput_per_s": each.rows_read_per_s}) for each in baseline])
    return found if len(rows) >= enough else max(found, UNSEEN_NOISE)
