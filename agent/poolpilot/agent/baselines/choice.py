"""How a baseline turns its choice into a prediction."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction


def best_allowed(scores: NDArray[np.floating], grid: ActionGrid, limits: KnobSpace) -> int:
    """Action of the highest score among those that the limits allow.

    Args:
        scores: Higher is better; NaN counts as unknown and is never chosen, (A,).
        grid: The grid of the actions.
        limits: The knobs of the server and their ranges.

    Raises:
        SettingError: No allowed tuple has a score.
    """
    usable = np.where(grid.mask(limits) & ~np.isnan(scores), scores, -np.inf)
    best = int(np.argmax(usable))
    if not np.isfinite(usable[best]):
        raise SettingError(
            "none of the configurations that this server allows has been measured; collect on such a server"
        )
    return best


def advise(
    windows: Sequence[Window], core: tuple[int, int, int], reason: str, source: str, expected_gain: float | None = None
) -> Prediction:
    """Makes the prediction of a baseline, which never abstains.

    Args:
        windows: The windows it saw, oldest first.
        core: Core of the tuple it names.
        reason: Why, as a sentence.
        source: Name of the baseline.
        expected_gain: J of the tuple minus J of the first window's, where the baseline estimates it.

    Raises:
        SettingError: There is no window.
    """
    if not windows:
        raise SettingError("a prediction needs at least one window; measure the configuration in force first")
    in_force = windows[-1].pool_tuple
    return Prediction(
        pool_tuple=in_force.with_core(core),
        in_force=in_force,
        abstained=False,
        reasons=(reason,),
        model_digest=source,
        expected_gain=expected_gain,
    )
