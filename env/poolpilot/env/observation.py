"""The observation of an agent: the response set of a server, the same in training and in production."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import feature_names
from poolpilot.featurizer.waiting import Waiting
from poolpilot.featurizer.window import Window

ENTRIES = 4
"""Windows in a response set: the first one and one for each of three decisions."""

OCTAVES_PER_UNIT = 10.0
"""Every logarithm an agent sees is in units of a factor 2**10, so that sums and differences keep their meaning."""

STOCK_TIMER_INTERVAL_MS = 500
"""Any smaller timer interval switches MariaDB's throttle of thread creation off."""

BOUND = 8.0
"""No entry of an observation leaves -BOUND..BOUND."""

Observation = dict[str, NDArray[np.float32]]

TUPLE_INPUTS = (
    "log_size",
    "log_oversubscribe",
    "log_timer",
    "log_size_per_cpu",
    "log_size_per_connection",
    "log_threads_per_cpu",
    "throttled",
)
"""Inputs of `score(responses, tuple)`; threads are size * (1 + oversubscribe)."""


@dataclass(frozen=True, slots=True)
class EncodedWindow:
    """One window as an agent sees it.

    Attributes:
        features: Scaled features, shape (F,); 0 where absent.
        feature_mask: 1 where present, shape (F,).
        tuple_logs: Scaled logarithms of size, 1 + oversubscribe and timer interval, shape (3,).
        value: J.
        within_target: Share of the weighted completions that met their target, 0..1.
        context: Scaled logarithms of processors and connections, shape (2,).
        most_gain: The most that more threads, and fewer, can bring by what waits (`Waiting`), in ln completions, (2,);
            BOUND where nothing bounds it.
        goodput_per_s: Goodput, which the agent does not see.
    """

    features: NDArray[np.float32]
    feature_mask: NDArray[np.float32]
    tuple_logs: NDArray[np.float32]
    value: float
    within_target: float
    context: NDArray[np.float32]
    most_gain: NDArray[np.float32]
    goodput_per_s: float


def scaled_log(value: float) -> float:
    """Base-2 logarithm in units of ten octaves; values under 1 count as 1."""
    return math.log2(max(value, 1.0)) / OCTAVES_PER_UNIT


def encode_window(window: Window, limits: KnobSpace, objective: Objective) -> EncodedWindow:
    """Encodes one window."""
    pool_tuple = window.pool_tuple
    logs = [pool_tuple.pool_size, 1 + pool_tuple.oversubscribe, pool_tuple.timer_interval_ms]
    connections = window.profile.features.get("connections") or 1.0
    mask = window.profile.mask()
    return EncodedWindow(
        features=np.clip(window.profile.vector() * mask, -BOUND, BOUND),
        feature_mask=mask,
        tuple_logs=np.array([scaled_log(value) for value in logs], dtype=np.float32),
        value=objective.value(window),
        within_target=objective.share_within_target(window),
        context=np.array([scaled_log(limits.cpus), scaled_log(connections)], dtype=np.float32),
        most_gain=_most_gain(window),
        goodput_per_s=objective.goodput_per_s(window),
    )


def _most_gain(window: Window) -> NDArray[np.float32]:
    waiting = Waiting.of(window)
    bounds = (BOUND, BOUND) if waiting is None else (waiting.most_by_threads, waiting.most_by_fewer)
    return np.clip(np.array(bounds, dtype=np.float32), 0.0, BOUND)


def assemble(entries: Sequence[EncodedWindow], action_mask: NDArray[np.float32], k: int = ENTRIES) -> Observation:
    """Puts encoded windows, oldest first, into the arrays of an observation.

    Args:
        entries: At least one; of more than `k` the first and the latest `k - 1` are kept.
        action_mask: 1 for every action allowed, shape (A,).
        k: Entries of the observation.

    Returns:
        features (k, F), feature_mask (k, F), tuples (k, 3), relative (k, 1) = J minus the first J,
        within_target (k, 1), most_gain (k, 2), present (k,), action_mask (A,), context (2,) of the latest entry; all
        float32.

    Raises:
        SettingError: There is no entry.
    """
    if not entries:
        raise SettingError("an observation needs at least one window; measure the configuration in force first")
    kept = entries if len(entries) <= k else [entries[0], *entries[len(entries) - k + 1 :]]
    width = len(kept[0].features)
    observation = {
        "features": np.zeros((k, width), np.float32),
        "feature_mask": np.zeros((k, width), np.float32),
        "tuples": np.zeros((k, 3), np.float32),
        "relative": np.zeros((k, 1), np.float32),
        "within_target": np.zeros((k, 1), np.float32),
        "most_gain": np.zeros((k, 2), np.float32),
        "present": np.zeros(k, np.float32),
        "action_mask": action_mask.copy(),
        "context": kept[-1].context.copy(),
    }
    observation["present"][: len(kept)] = 1.0
    for row, entry in enumerate(kept):
        observation["features"][row] = entry.features
        observation["feature_mask"][row] = entry.feature_mask
        observation["tuples"][row] = entry.tuple_logs
        observation["relative"][row] = min(max(entry.value - kept[0].value, -BOUND), BOUND)
        observation["within_target"][row] = entry.within_target
        observation["most_gain"][row] = entry.most_gain
    return observation


def encode(
    windows: Sequence[Window], limits: KnobSpace, objective: Objective, grid: ActionGrid, k: int = ENTRIES
) -> Observation:
    """Encodes windows, oldest first, into an observation; see `assemble` for the arrays.

    Raises:
        SettingError: There is no window, or the limits allow no tuple of the grid.
    """
    mask = grid.mask(limits).astype(np.float32)
    return assemble([encode_window(window, limits, objective) for window in windows], mask, k)


def observation_shapes(grid: ActionGrid, k: int = ENTRIES) -> Mapping[str, tuple[int, ...]]:
    """Shape of every array of an observation, by name."""
    width = len(feature_names())
    return {
        "features": (k, width),
        "feature_mask": (k, width),
        "tuples": (k, 3),
        "relative": (k, 1),
        "within_target": (k, 1),
        "most_gain": (k, 2),
        "present": (k,),
        "action_mask": (len(grid),),
        "context": (2,),
    }


def tuple_inputs(pool_tuple: PoolTuple, cpus: float, connections: float) -> NDArray[np.float32]:
    """What a score network is told of a candidate tuple, in the order of `TUPLE_INPUTS`, shape (7,), about -1..1.

    The logarithms are affine in the observation's `context`: `log_size_per_cpu = log_size - context[0]`.
    """
    size = scaled_log(pool_tuple.pool_size)
    oversubscribe = scaled_log(1 + pool_tuple.oversubscribe)
    return np.array(
        [
            size,
            oversubscribe,
            scaled_log(pool_tuple.timer_interval_ms),
            size - scaled_log(cpus),
            size - scaled_log(connections),
            size + oversubscribe - scaled_log(cpus),
            float(pool_tuple.timer_interval_ms >= STOCK_TIMER_INTERVAL_MS),
        ],
        dtype=np.float32,
    )
