"""The exact all-action loss: where sweeps know the outcome of every tuple, nothing need be sampled."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from poolpilot.agent.encoded_sweeps import EncodedSweeps, draw_sets
from poolpilot.agent.progress import Progress, silent
from poolpilot.agent.torch_threads import torch_threads
from poolpilot.agent.training.network_metrics import one_shot_regret, regret_metrics
from poolpilot.agent.training.standardisation import Standardisation
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import ENTRIES, Observation
from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import FEATURES
from poolpilot.models.architecture import Architecture, grid_coordinates
from poolpilot.models.network import ScoreNetwork, Scores

RICH = np.array([feature.tier == "rich" for feature in FEATURES])
"""Which features only a rich server can give, (F,)."""


class AllActionSettings(BaseModel):
    """Size and pace of the all-action training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    members: int = Field(default=5, ge=1, description="Members of the ensemble.")
    hidden: int = Field(default=64, ge=1, description="Width of every hidden layer.")
    sharpness: float = Field(default=3.0, gt=0.0, description="Inverse temperature the policy starts with.")
    epochs: int = Field(default=100, ge=1, description="Epochs at most.")
    patience: int = Field(default=20, ge=1, description="Epochs without a better validation regret before it stops.")
    sets_per_sweep: int = Field(default=32, ge=1, description="Response sets drawn from every sweep in an epoch.")
    most_windows: int = Field(default=3, ge=1, le=ENTRIES, description="Windows of a response set at most.")
    batch_size: int = Field(default=128, ge=1, description="Response sets of one step.")
    learning_rate: float = Field(default=5e-4, gt=0.0, description="Step size of Adam.")
    schedule: Literal["constant", "cosine"] = Field(
        default="constant", description="Whether the step size stays or falls to zero over the epochs."
    )
    keep: Literal["best", "last"] = Field(
        default="best",
        description="Weights returned: of the epoch of the least validation regret, or the last, where the validation "
        "workloads are too few or too noisy to stop by.",
    )
    weight_decay: float = Field(
        default=0.1, ge=0.0, description="Decoupled weight decay; biases and sharpness have none."
    )
    policy_weight: float = Field(default=0.1, ge=0.0, description="Weight of the policy's expected regret.")
    gain_weight: float = Field(default=1.0, ge=0.0, description="Weight of the regression of the gain.")
    value_weight: float = Field(default=0.5, ge=0.0, description="Weight of the regression of the critic.")
    huber_delta: float = Field(default=0.3, gt=0.0, description="Error of the gain from which its loss is linear.")
    hide_rich_share: float = Field(default=0.25, ge=0.0, le=1.0, description="Share of sets that lose the rich tier.")
    hide_feature_share: float = Field(default=0.2, ge=0.0, lt=1.0, description="Share of single features hidden.")
    bootstrap: Literal["none", "workloads", "families"] = Field(
        default="workloads", description="What each member weights at random, so that members disagree off the data."
    )
    standardise: bool = Field(
        default=False, description="Whether features are learned in units of their spread over the training windows."
    )
    threads: int = Field(default=1, ge=1, description="Threads of torch.")
    seed: int = Field(default=0, ge=0, description="Seed of weights, draws and bootstrap.")


def train_all_action(
    training: Sequence[WorkloadSweep],
    validation: Sequence[WorkloadSweep],
    settings: AllActionSettings | None = None,
    *,
    grid: ActionGrid = DEFAULT_GRID,
    initial: Mapping[str, NDArray[np.float32]] | None = None,
    on_epoch: Progress | None = None,
) -> ScoreNetwork:
    """Trains the score network and returns it as it was in the epoch of the least validation regret, or the last.

    Args:
        training: Sweeps to learn from.
        validation: Sweeps of other families, which decide when to stop.
        settings: Size and pace.
        grid: The grid of the actions.
        initial: Weights to start from, which are kept if no epoch does better; random ones if None.
        on_epoch: Called after every epoch with its metrics.

    Raises:
        StoreError: There is no training or no validation sweep.
        SettingError: The limits of a sweep allow no tuple of the grid, or the initial weights are of another shape.
    """
    settings = settings or AllActionSettings()
    seen, held = EncodedSweeps.of(training, grid), EncodedSweeps.of(validation, grid)
    units = Standardisation.of(seen) if settings.standardise else None
    if units is not None:
        seen, held = units.applied(seen), units.applied(held)
    with torch_threads(settings.threads):
        network = new_network(settings, seen.grid)
        regret = float("inf")
        if initial is not None:
            _take_over(network, initial if units is None else units.unfolded(initial))
            regret = float(one_shot_regret(network, held, per_sweep=16).mean())
        network = _train(network, regret, seen, held, settings, on_epoch or silent)
        if units is not None:
            network.initialise_from(units.folded(network.state_to_numpy()))
        return network


def _take_over(network: ScoreNetwork, initial: Mapping[str, NDArray[np.float32]]) -> None:
    shapes = network.architecture.shapes
    given = {**initial, "candidates": network.state_to_numpy()["candidates"]}  # a network may go on with another grid
    differing = [name for name, shape in shapes.items() if name not in given or given[name].shape != shape]
    if differing:
        raise SettingError(
            f"the initial model has another shape ({differing[0]}); train with its members and hidden width"
        )
    network.initialise_from(given)


def new_network(settings: AllActionSettings, grid: ActionGrid) -> ScoreNetwork:
    """An untrained network whose weights depend on nothing but the seed."""
    architecture = Architecture.of(grid, members=settings.members, hidden=settings.hidden)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return ScoreNetwork(architecture, grid_coordinates(grid), sharpness=settings.sharpness)


def all_action_losses(
    scores: Scores, sharpness: Tensor, target: Mapping[str, Tensor], delta: float
) -> dict[str, Tensor]:
    """The losses of a batch, per member and response set.

    Args:
        scores: What the network says.
        sharpness: Inverse temperature of the policy, a scalar.
        target: `regret` of every tuple (B, A), `gain` = its mean J minus that of the first window's tuple (B, A),
            `repeats` behind it, 0 where it was not measured (B, A).
        delta: Error of the gain from which its loss is linear.

    Returns:
        policy: the expected regret of each member's softmax policy over the measured tuples, (M, B).
        gain: Huber loss of each member's gain, weighted by repeats, (M, B).
        value: squared error of the critic against minus the expected regret, (1, B).
    """
    measured = target["repeats"] > 0
    logits = torch.where(measured, scores.member_gain * sharpness, -torch.inf)
    policy = (torch.softmax(logits, dim=-1) * target["regret"]).sum(dim=-1)
    weights = target["repeats"] / target["repeats"].sum(dim=-1, keepdim=True)
    wanted = target["gain"].expand_as(scores.member_gain)
    errors = torch.nn.functional.huber_loss(scores.member_gain, wanted, reduction="none", delta=delta)
    critic = torch.square(scores.value + policy.mean(dim=0).detach()).unsqueeze(0)
    return {"policy": policy, "gain": (errors * weights).sum(dim=-1), "value": critic}


def bootstrap_weights(
    encoded: EncodedSweeps, settings: AllActionSettings, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Weights of each sweep for each member, mean 1: the Bayesian bootstrap (Rubin, 1981). Shape (M, S)."""
    shape = (settings.members, len(encoded))
    if settings.bootstrap == "none":
        return np.ones(shape, np.float32)
    names = [sweep.family if settings.bootstrap == "families" else sweep.workload_id for sweep in encoded.sweeps]
    unit_of = np.unique(names, return_inverse=True)[1]
    drawn = rng.exponential(size=(settings.members, int(unit_of.max()) + 1))[:, unit_of]
    weights: NDArray[np.float32] = (drawn / drawn.mean(axis=1, keepdims=True)).astype(np.float32)
    return weights


def hide_features(observation: Observation, settings: AllActionSettings, rng: np.random.Generator) -> None:
    """Hides features at random, in place: of some response sets the whole rich tier, of all some single ones."""
    batch, _, width = observation["feature_mask"].shape
    poor = rng.random((batch, 1)) < settings.hide_rich_share
    hidden = (rng.random((batch, width)) < settings.hide_feature_share) | (poor & RICH)
    observation["feature_mask"] *= ~hidden[:, None]
    observation["features"] *= ~hidden[:, None]


def _train(
    network: ScoreNetwork,
    best_regret: float,
    seen: EncodedSweeps,
    held: EncodedSweeps,
    settings: AllActionSettings,
    report: Progress,
) -> ScoreNetwork:
    optimiser = torch.optim.AdamW(_parameter_groups(network, settings.weight_decay), lr=settings.learning_rate)
    steps = settings.epochs if settings.schedule == "cosine" else 10**9
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    rng = np.random.default_rng(settings.seed)
    member_weights = bootstrap_weights(seen, settings, rng)
    best, best_epoch = network.state_to_numpy(), 0
    for epoch in range(settings.epochs):
        losses = _epoch(network, optimiser, seen, member_weights, settings, rng)
        schedule.step()
        regret = one_shot_regret(network, held, per_sweep=16)
        trained = regret_metrics("train", one_shot_regret(network, seen, per_sweep=4))
        report(epoch, {**losses, **trained, **regret_metrics("validation", regret)})
        if float(regret.mean()) < best_regret:
            best, best_regret, best_epoch = network.state_to_numpy(), float(regret.mean()), epoch
        elif epoch - best_epoch >= settings.patience and settings.keep == "best":
            break
    if settings.keep == "best":
        network.initialise_from(best)
    return network


def _parameter_groups(network: ScoreNetwork, weight_decay: float) -> list[dict[str, object]]:
    named = list(network.named_parameters())
    return [
        {"params": [each for name, each in named if name.endswith("weight")], "weight_decay": weight_decay},
        {"params": [each for name, each in named if not name.endswith("weight")], "weight_decay": 0.0},
    ]


def _epoch(
    network: ScoreNetwork,
    optimiser: torch.optim.Optimizer,
    encoded: EncodedSweeps,
    member_weights: NDArray[np.float32],
    settings: AllActionSettings,
    rng: np.random.Generator,
) -> dict[str, float]:
    """One pass over freshly drawn response sets; returns the mean losses."""
    sets = rng.permutation(draw_sets(encoded, settings.sets_per_sweep, settings.most_windows, rng))
    weight_of = {"policy": settings.policy_weight, "gain": settings.gain_weight, "value": settings.value_weight}
    totals = dict.fromkeys(weight_of, 0.0)
    for start in range(0, len(sets), settings.batch_size):
        batch = sets[start : start + settings.batch_size]
        observation = encoded.observation(batch)
        hide_features(observation, settings, rng)
        scores = network(to_tensors(observation))
        target = _target(encoded, batch)
        losses = all_action_losses(scores, network.log_sharpness.exp(), target, settings.huber_delta)
        weights = torch.from_numpy(member_weights[:, encoded.sweep_of[batch[:, 0]]])
        means = {name: (loss * weights if name != "value" else loss).mean() for name, loss in losses.items()}
        optimiser.zero_grad()
        torch.stack([weight_of[name] * mean for name, mean in means.items()]).sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        for name, mean in means.items():
            totals[name] += float(mean.detach()) * len(batch) / len(sets)
    return {f"loss_{name}": total for name, total in totals.items()}


def _target(encoded: EncodedSweeps, sets: NDArray[np.int64]) -> dict[str, Tensor]:
    first = sets[:, 0]
    sweep_of = encoded.sweep_of[first]
    return to_tensors(
        {
            "regret": encoded.regret[sweep_of],
            "gain": encoded.outcome[sweep_of] - encoded.reference[first][:, None],
            "repeats": encoded.repeats[sweep_of] * encoded.allowed[sweep_of],
        }
    )


def to_tensors(arrays: Mapping[str, NDArray[np.float32]]) -> dict[str, Tensor]:
    """The same arrays as tensors that share their memory."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
