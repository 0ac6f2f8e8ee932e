"""The stages of training: all-action initialisation, PPO, MARWIL, and the choice among their networks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import mlflow
import numpy as np
from rich.console import Console
from rich.progress import Progress

from poolpilot.agent.progress import Progress as Report
from poolpilot.agent.training.all_action import AllActionSettings, train_all_action
from poolpilot.agent.training.marwil import MarwilSettings, imitate
from poolpilot.agent.training.ppo import PpoSettings, refine
from poolpilot.agent.training.rllib_module import rebuilt
from poolpilot.agent.training.validation import Weights, evaluate_weights
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.architecture import Architecture
from poolpilot.models.artefact import load
from poolpilot.models.card import Variant
from poolpilot.models.network import ScoreNetwork
from poolpilot.pipelines.evaluate.evaluation_tables import curve_figure
from poolpilot.pipelines.progress_bars import new_progress
from poolpilot.pipelines.train.stage_store import StageStore
from poolpilot.pipelines.train.train_settings import TrainSettings

StageSettings = AllActionSettings | PpoSettings | MarwilSettings

ALL_ACTION: Variant = "all_action"
"""The variant that learned from the exact loss alone."""


@dataclass
class Trainer:
    """Runs the stages inside an MLflow run, to which every epoch and iteration is logged.

    Attributes:
        training: Sweeps to learn from.
        validation: Sweeps of other families, to choose by.
        grid: The grid of the actions.
        settings: Which stages run, and how.
        console: Where progress is shown.
        scores: Validation score of every variant, the least wins.
        stages: Keeps finished stages for a run that goes on; None keeps nothing.
    """

    training: Sequence[WorkloadSweep]
    validation: Sequence[WorkloadSweep]
    grid: ActionGrid
    settings: TrainSettings
    console: Console
    scores: dict[Variant, float] = field(default_factory=dict)
    stages: StageStore | None = None

    def run(self) -> tuple[Variant, ScoreNetwork]:
        """Trains all variants; returns the name and the network of the least validation score.

        Raises:
            StoreError: There is no training or no validation sweep.
        """
        with new_progress(self.console) as progress:
            return self._best(self._variants(progress))

    def _variants(self, progress: Progress) -> dict[Variant, ScoreNetwork]:
        settings = self.settings
        seen, held, grid = self.training, self.validation, self.grid
        start = load(settings.initial).weights if settings.initial else None
        initial = self._finished(
            progress,
            ALL_ACTION,
            settings.all_action,
            start,
            lambda report: train_all_action(seen, held, settings.all_action, grid=grid, initial=start, on_epoch=report),
        )
        variants, weights = {ALL_ACTION: initial}, initial.state_to_numpy()
        if settings.use_ppo:
            variants["ppo"] = self._finished(
                progress,
                "ppo",
                settings.ppo,
                weights,
                lambda report: refine(initial, seen, held, settings.ppo, grid=grid, on_iteration=report),
            )
        if settings.use_marwil:
            variants["marwil"] = self._finished(
                progress,
                "marwil",
                settings.marwil,
                weights,
                lambda report: imitate(initial, seen, held, settings.marwil, grid=grid, on_iteration=report),
            )
        return variants

    def _finished(
        self,
        progress: Progress,
        stage: str,
        settings: StageSettings,
        initial: Weights | None,
        train: Callable[[Report], ScoreNetwork],
    ) -> ScoreNetwork:
        """The network of a stage: the one kept by a run that was ended, or one trained now, which is kept then."""
        kept = self.stages.load(stage, settings, initial) if self.stages else None
        if kept is not None:
            mlflow.set_tag(f"{stage}.kept", "from a run that was ended")
            progress.add_task(stage, total=1, completed=1, shown="kept from the run before")
            all_action = self.settings.all_action
            shape = Architecture.of(self.grid, members=all_action.members, hidden=all_action.hidden)
            return rebuilt(shape, kept)
        with _stage(progress, stage, settings) as report:
            network = train(report)
        if self.stages:
            self.stages.save(stage, settings, initial, network.state_to_numpy())
        return network

    def _best(self, variants: Mapping[Variant, ScoreNetwork]) -> tuple[Variant, ScoreNetwork]:
        for name, network in variants.items():
            judged = evaluate_weights(network.state_to_numpy(), self.validation, self.settings.choice, self.grid)
            self.scores[name] = judged.score
            mlflow.log_metric(f"{name}.validation_score_chosen_by", judged.score)
        best = min(self.scores, key=self.scores.__getitem__)
        mlflow.set_tag("variant", best)
        return best, variants[best]


@contextmanager
def _stage(progress: Progress, stage: str, settings: StageSettings) -> Iterator[Report]:
    """Gives a callback that takes metrics to MLflow and the progress bar; afterwards plots the watched one."""
    total, watched = (
        (settings.epochs, "validation_regret_mean")
        if isinstance(settings, AllActionSettings)
        else (settings.pace.iterations, "validation_score")
    )
    task = progress.add_task(stage, total=total, shown="")
    points: list[tuple[int, float]] = []

    def report(step: int, metrics: Mapping[str, float]) -> None:
        mlflow.log_metrics({f"{stage}.{name}": one for name, one in metrics.items() if np.isfinite(one)}, step=step)
        if watched in metrics:
            points.append((step, metrics[watched]))
        shown = f"{watched} {points[-1][1]:.3f}" if points else ""
        progress.update(task, completed=step + 1, shown=shown)

    yield report
    progress.update(task, total=progress.tasks[task].completed)
    mlflow.log_figure(curve_figure(points, watched), f"{stage}.png")
