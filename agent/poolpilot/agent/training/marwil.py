"""MARWIL on logged decisions: imitate what was done, in proportion to how well it went.

Q. Wang and others, "Exponentially Weighted Imitation Learning for Batched Historical Data", NeurIPS 2018
(docs/references.md).
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from ray.rllib.algorithms.marwil import MARWILConfig

from poolpilot.agent.encoded_sweeps import EncodedSweeps, draw_sets
from poolpilot.agent.progress import Progress
from poolpilot.agent.training.offline_data import flat_space, with_decisions, write_decisions
from poolpilot.agent.training.ray_session import RaySettings, ray_session
from poolpilot.agent.training.rllib_module import module_spec, rebuilt
from poolpilot.agent.training.rllib_training import Pace, train
from poolpilot.agent.training.validation import BestWeights, ValidationSettings
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import ENTRIES
from poolpilot.models.network import ScoreNetwork


class MarwilSettings(BaseModel):
    """Size and pace of MARWIL; the defaults fit two cores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pace: Pace = Field(
        default=Pace(iterations=10, evaluate_every=1),
        description="How often it passes over the decisions and is evaluated.",
    )
    batch_size: int = Field(default=512, ge=1, description="Decisions of one step of the optimiser.")
    learning_rate: float = Field(default=1e-4, gt=0.0, description="Step size of Adam.")
    beta: float = Field(default=1.0, ge=0.0, le=1.0, description="Weight of the advantage; 0 imitates blindly.")
    advantage_scale: float = Field(
        default=0.3, gt=0.0, description="Advantage in regret that multiplies a decision's weight by e**beta."
    )
    decisions_per_sweep: int = Field(default=64, ge=1, description="Logged decisions taken from every sweep.")
    most_windows: int = Field(default=3, ge=1, le=ENTRIES, description="Windows before a decision at most.")
    validation: ValidationSettings = Field(default=ValidationSettings(), description="What decides which weights stay.")
    seed: int = Field(default=0, ge=0, description="Seed of the draw of decisions and of the learner.")
    ray: RaySettings = Field(default=RaySettings(), description="Size of the local Ray.")


def imitate(
    network: ScoreNetwork,
    training: Sequence[WorkloadSweep],
    validation: Sequence[WorkloadSweep],
    settings: MarwilSettings | None = None,
    *,
    grid: ActionGrid = DEFAULT_GRID,
    on_iteration: Progress | None = None,
) -> ScoreNetwork:
    """Trains on logged decisions and returns the network of the least validation score, the initial one included.

    Args:
        network: What training starts from; it is left as it is.
        training: Sweeps whose measured tuples are the logged decisions.
        validation: Sweeps of other families, which decide which weights are kept.
        settings: Size and pace.
        grid: The grid of the actions.
        on_iteration: Called with every iteration's number and metrics, 0 for the initial network.

    Raises:
        StoreError: There is no training or no validation sweep, or one measured no configuration of the grid.
    """
    settings = settings or MarwilSettings()
    encoded = EncodedSweeps.of(training, grid)
    best_weights = BestWeights(network.state_to_numpy(), validation, settings.validation, grid)
    with tempfile.TemporaryDirectory(prefix="poolpilot-decisions-") as folder, ray_session(settings.ray):
        log_decisions(Path(folder), encoded, settings)
        config = with_decisions(_config(network, grid, settings), Path(folder), grid)
        train(config, best_weights, settings.pace, on_iteration)
    return rebuilt(network.architecture, best_weights.best)


def log_decisions(directory: Path, encoded: EncodedSweeps, settings: MarwilSettings) -> None:
    """Writes decisions as sweeps make them: after random windows a tuple drawn evenly, rewarded by minus its regret."""
    rng = np.random.default_rng(settings.seed)
    # RLlib reads the rows in their order: sweep after sweep, each would undo what the one before has taught.
    sets = rng.permutation(draw_sets(encoded, settings.decisions_per_sweep, settings.most_windows, rng))
    sweep_of = encoded.sweep_of[sets[:, 0]]
    # The greatest of independent uniform numbers falls on every measured tuple alike.
    actions = (rng.random((len(sets), len(encoded.grid))) * encoded.measured[sweep_of]).argmax(axis=1)
    write_decisions(directory, encoded.observation(sets), actions, -encoded.regret[sweep_of, actions])


def _config(network: ScoreNetwork, grid: ActionGrid, settings: MarwilSettings) -> MARWILConfig:
    config: MARWILConfig = (
        MARWILConfig()  # type: ignore[no-untyped-call]
        .framework("torch")
        .training(
            beta=settings.beta,
            # RLlib divides advantages by the root of this running mean, which starts at 100 and hardly moves.
            moving_average_sqd_adv_norm_start=settings.advantage_scale**2,
            gamma=1.0,
            lr=settings.learning_rate,
            train_batch_size_per_learner=settings.batch_size,
        )
        .rl_module(rl_module_spec=module_spec(network, grid, flat_space(grid)))
        .debugging(seed=settings.seed, log_level="ERROR")
    )
    return config
