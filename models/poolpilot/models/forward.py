"""The forward pass of the score network in numpy: same weights, same tuple, no torch."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolpilot.models.architecture import CONTEXT_MAP, COORDINATE_MAP, THROTTLED_FROM

Array = NDArray[np.float32]
Weights = Mapping[str, Array]

MASKED_LOGIT = -1e9
"""Logit of a tuple that the server's limits forbid."""


class NumpyScores(NamedTuple):
    """The twin of `network.Scores`.

    Attributes:
        logits: Policy over the grid, `gain * sharpness`, forbidden tuples at MASKED_LOGIT, (B, A).
        value: Critic's estimate of the return from here, (B,).
        gain: Predicted J of each tuple minus J of the first window's tuple, mean over members, (B, A).
        member_gain: The same of each member, (M, B, A).
        latest_gain: The same for the tuple of the latest window, on the grid or not, (M, B).
    """

    logits: Array
    value: Array
    gain: Array
    member_gain: Array
    latest_gain: Array


class MemberGains(NamedTuple):
    """Gains over the first window's tuple.

    Attributes:
        members: Of each tuple as each member of the ensemble predicts it, (M, B, A).
        latest: The same for the tuple of the latest window, on the grid or not, (M, B).
    """

    members: Array
    latest: Array


def forward(weights: Weights, observation: Mapping[str, Array]) -> NumpyScores:
    """Scores a batch of observations.

    Args:
        weights: Arrays by name, as `Architecture.shapes` lists them.
        observation: Arrays of `poolpilot.env.observation.encode`, each with a leading batch axis B.
    """
    code = _encode(weights, observation)
    gains = _gains(weights, observation, code)
    gain = gains.members.mean(axis=0)
    sharpness = np.exp(weights["log_sharpness"])
    logits = np.where(observation["action_mask"] > 0, gain * sharpness, np.float32(MASKED_LOGIT))
    value = _layer(weights, "value", code)[..., 0].mean(axis=0)
    return NumpyScores(logits, value, gain, gains.members, gains.latest)


def member_gains(weights: Weights, observation: Mapping[str, Array]) -> MemberGains:
    """The gains of `forward` alone, which is what a prediction needs."""
    return _gains(weights, observation, _encode(weights, observation))


def _gains(weights: Weights, observation: Mapping[str, Array], code: Array) -> MemberGains:
    tuples, context = observation["tuples"], observation["context"]
    latest = observation["present"].sum(axis=1).astype(np.int64) - 1
    candidates = weights["candidates"]
    coordinates = np.empty((len(tuples), len(candidates) + 2, candidates.shape[1]), np.float32)
    coordinates[:, :-2] = candidates
    coordinates[:, -2] = tuples[:, 0]
    coordinates[:, -1] = tuples[np.arange(len(tuples)), latest]
    scores = _score(weights, code, coordinates, context)
    gains = scores - scores[..., -2:-1]
    return MemberGains(gains[..., :-2], gains[..., -1])


def _encode(weights: Weights, observation: Mapping[str, Array]) -> Array:
    present = observation["present"]
    mask = observation["feature_mask"]
    first = np.zeros_like(present)
    first[:, 0] = 1.0
    tuples = _tuple_inputs(observation["tuples"], observation["context"])
    scalars = [observation["relative"], observation["within_target"], first[..., None]]
    entry = np.concatenate([observation["features"] * mask, mask, tuples, *scalars], axis=-1)
    code = _relu(_layer(weights, "entry_in", entry[None]))
    code = _relu(_layer(weights, "entry_out", code)) * present[..., None]
    count = present.sum(axis=1, keepdims=True)
    mean = code.sum(axis=2) / np.maximum(count, np.float32(1.0))
    server = np.concatenate([observation["context"], count / np.float32(present.shape[1])], axis=-1)
    width = mean.shape[-1]
    pooled = np.empty((*mean.shape[:-1], 2 * width + server.shape[-1]), np.float32)
    pooled[..., :width] = mean
    pooled[..., width : 2 * width] = code.max(axis=2)
    pooled[..., 2 * width :] = server  # the same for every member
    return _relu(_layer(weights, "pooled", pooled))


def _score(weights: Weights, code: Array, coordinates: Array, context: Array) -> Array:
    """The score of every candidate; the layer over code and candidate is the sum of one over each."""
    width = code.shape[-1]
    matrix, inputs = weights["score_in.weight"], _tuple_inputs(coordinates, context)
    of_server = code @ matrix[:, :width] + weights["score_in.bias"]
    of_tuple = inputs.reshape(-1, inputs.shape[-1]) @ matrix[:, width:]
    hidden = of_server[:, :, None] + of_tuple.reshape(len(matrix), *inputs.shape[:2], -1)
    hidden = _relu(_layer(weights, "score_hidden", _relu(hidden)))
    return _layer(weights, "score_out", hidden)[..., 0]


def _tuple_inputs(coordinates: Array, context: Array) -> Array:
    shared = coordinates @ COORDINATE_MAP + (context @ CONTEXT_MAP)[:, None]
    throttled = (coordinates[..., 2:] >= THROTTLED_FROM).astype(np.float32)
    return np.concatenate([shared, throttled], axis=-1)


def _layer(weights: Weights, name: str, values: Array) -> Array:
    flat = values.reshape(len(values), -1, values.shape[-1])
    mapped = flat @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return mapped.reshape(len(mapped), *values.shape[1:-1], mapped.shape[-1])


def _relu(values: Array) -> Array:
    return np.maximum(values, np.float32(0.0))
