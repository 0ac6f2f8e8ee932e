"""The response-set score network in torch: what training moves; `forward.py` is its twin that serves."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from poolpilot.models.architecture import CONTEXT_MAP, COORDINATE_MAP, THROTTLED_FROM, Architecture
from poolpilot.models.forward import MASKED_LOGIT


class Scores(NamedTuple):
    """What the network says about a batch of response sets.

    Attributes:
        logits: Policy over the grid, `gain * sharpness`, forbidden tuples at MASKED_LOGIT, (B, A).
        value: Critic's estimate of the return from here, (B,).
        gain: Predicted J of each tuple minus J of the first window's tuple, mean over members, (B, A).
        member_gain: The same of each member, (M, B, A).
    """

    logits: Tensor
    value: Tensor
    gain: Tensor
    member_gain: Tensor

    @property
    def disagreement(self) -> Tensor:
        """Standard deviation of the gain over the members, (B, A)."""
        return self.member_gain.std(dim=0, correction=0)


class MemberLinear(nn.Module):
    """One linear layer of every member at once, each member with weights of its own.

    Args:
        members: Members of the ensemble, M.
        inputs: Width of the input.
        outputs: Width of the output.
    """

    def __init__(self, members: int, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(members, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(members, 1, outputs).uniform_(-bound, bound))

    def forward(self, values: Tensor) -> Tensor:
        """Maps (1 or M, ..., inputs) to (M, ..., outputs)."""
        flat = values.reshape(values.shape[0], -1, values.shape[-1])
        mapped: Tensor = flat @ self.weight + self.bias
        return mapped.reshape(mapped.shape[0], *values.shape[1:-1], mapped.shape[-1])


class ScoreNetwork(nn.Module):
    """Scores every tuple of the grid for a set of responses (windows, each under its own tuple).

    Each member encodes every response with the same small network, pools the codes over the set (mean and
    maximum, so the order of later windows does not matter) and scores each candidate tuple from the pooled
    code and the candidate's own inputs. A score is J up to a constant of the response set. The score of the
    first window's tuple is subtracted, so `gain` is the expected J relative to the first window, exactly zero
    for that tuple itself; a regression on measured differences of J trains it directly. The policy is
    `softmax(gain * sharpness)` with one learned sharpness, so gain, interval and policy share one head. The
    critic reads the pooled code of all members but never moves it.

    Args:
        architecture: Layer sizes.
        candidates: Coordinates of the grid's tuples (`grid_coordinates`), (A, 3).
        sharpness: Initial inverse temperature of the policy.
    """

    candidates: Tensor
    coordinate_map: Tensor
    context_map: Tensor

    def __init__(self, architecture: Architecture, candidates: NDArray[np.float32], *, sharpness: float = 10.0) -> None:
        super().__init__()
        self.architecture = architecture
        self.register_buffer("candidates", torch.as_tensor(candidates, dtype=torch.float32))
        self.register_buffer("coordinate_map", torch.from_numpy(COORDINATE_MAP.copy()), persistent=False)
        self.register_buffer("context_map", torch.from_numpy(CONTEXT_MAP.copy()), persistent=False)
        self.log_sharpness = nn.Parameter(torch.tensor(math.log(sharpness)))
        for name, (inputs, outputs) in architecture.layers.items():
            self.add_module(name, MemberLinear(architecture.members, inputs, outputs))

    def forward(self, observation: Mapping[str, Tensor]) -> Scores:
        """Scores a batch of observations.

        Args:
            observation: Arrays of `poolpilot.env.observation.encode`, each with a leading batch axis B.
        """
        code = self._encode(observation)
        reference = observation["tuples"][:, :1]
        grid = self.candidates.expand(len(reference), -1, -1)
        scores = self._score(code, torch.cat([grid, reference], dim=1), observation["context"])
        member_gain = scores[..., :-1] - scores[..., -1:]
        gain = member_gain.mean(dim=0)
        logits = torch.where(observation["action_mask"] > 0, gain * self.log_sharpness.exp(), MASKED_LOGIT)
        value = self._layer("value", code.detach()).squeeze(-1).mean(dim=0)
        return Scores(logits, value, gain, member_gain)

    def initialise_from(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Takes over the weights of an artefact of the same architecture (names of `Architecture.shapes`)."""
        self.load_state_dict({name: torch.tensor(np.asarray(array)) for name, array in weights.items()})

    def state_to_numpy(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name, as `forward.py` and the artefact take them."""
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()}

    def _encode(self, observation: Mapping[str, Tensor]) -> Tensor:
        present = observation["present"]
        mask = observation["feature_mask"]
        first = torch.zeros_like(present)
        first[:, 0] = 1.0
        tuples = self._tuple_inputs(observation["tuples"], observation["context"])
        scalars = [observation["relative"], observation["within_target"], first.unsqueeze(-1)]
        entry = torch.cat([observation["features"] * mask, mask, tuples, *scalars], dim=-1)
        code = torch.relu(self._layer("entry_in", entry.unsqueeze(0)))
        code = torch.relu(self._layer("entry_out", code)) * present.unsqueeze(-1)
        count = present.sum(dim=1, keepdim=True)
        mean = code.sum(dim=2) / count.clamp(min=1.0)
        server = torch.cat([observation["context"], count / present.shape[1]], dim=-1)
        server = server.expand(code.shape[0], -1, -1)
        return torch.relu(self._layer("pooled", torch.cat([mean, code.amax(dim=2), server], dim=-1)))

    def _score(self, code: Tensor, coordinates: Tensor, context: Tensor) -> Tensor:
        inputs = self._tuple_inputs(coordinates, context).expand(code.shape[0], -1, -1, -1)
        wide = code.unsqueeze(2).expand(-1, -1, coordinates.shape[1], -1)
        hidden = torch.relu(self._layer("score_in", torch.cat([wide, inputs], dim=-1)))
        hidden = torch.relu(self._layer("score_hidden", hidden))
        return self._layer("score_out", hidden).squeeze(-1)

    def _tuple_inputs(self, coordinates: Tensor, context: Tensor) -> Tensor:
        shared = coordinates @ self.coordinate_map + (context @ self.context_map).unsqueeze(1)
        throttled = (coordinates[..., 2:] >= THROTTLED_FROM).to(coordinates.dtype)
        return torch.cat([shared, throttled], dim=-1)

    def _layer(self, name: str, values: Tensor) -> Tensor:
        layer: Tensor = self.get_submodule(name)(values)
        return layer
