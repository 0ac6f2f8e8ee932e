"""The stages of training: all-action initialisation, PPO, MARWIL, and the choice among their networks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import mlflow
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from poolpilot.agent.progress import Progress as Report
from poolpilot.agent.training.all_action import train_all_action
from poolpilot.agent.training.marwil import imitate
from poolpilot.agent.training.ppo import refine
from poolpilot.agent.training.validation import judge
from poolpilot.env.ladder import Ladder
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.artefact import load
from poolpilot.models.network import ScoreNetwork
from poolpilot.pipelines.evaluate.evaluation_tables import curve_figure
from poolpilot.pipelines.train.train_settings import TrainSettings

ALL_ACTION = "all_action"
"""The variant that learned from the exact loss alone."""


@dataclass
class Trainer:
    """Runs the stages inside an MLflow run, to which every epoch and iteration is logged.

    Attributes:
        training: Sweeps to learn from.
        validation: Sweeps of other families, to choose by.
        ladder: The ladder of the actions.
        settings: Which stages run, and how.
        console: Where progress is shown.
    """

    training: Sequence[WorkloadSweep]
    validation: Sequence[WorkloadSweep]
    ladder: Ladder
    settings: TrainSettings
    console: Console
    scores: dict[str, float] = field(default_factory=dict)

    def run(self) -> tuple[str, ScoreNetwork]:
        """Trains all variants; returns the name and the network of the least validation score.

        Raises:
            StoreError: There is no training or no validation sweep.
        """
        with _progress(self.console) as progress:
            return self._best(self._variants(progress))

    def _variants(self, progress: Progress) -> dict[str, ScoreNetwork]:
        settings = self.settings
        with _stage(progress, "all_action", settings.all_action.epochs, "validation_regret_mean") as report:
            initial = train_all_action(
                self.training,
                self.validation,
                settings.all_action,
                ladder=self.ladder,
                initial=load(settings.initial).weights if settings.initial else None,
                on_epoch=report,
            )
        variants = {ALL_ACTION: initial}
        if settings.use_ppo:
            with _stage(progress, "ppo", settings.ppo.pace.iterations, "validation_score") as report:
                variants["ppo"] = refine(
                    initial, self.training, self.validation, settings.ppo, ladder=self.ladder, on_iteration=report
                )
        if settings.use_marwil:
            with _stage(progress, "marwil", settings.marwil.pace.iterations, "validation_score") as report:
                variants["marwil"] = imitate(
                    initial, self.training, self.validation, settings.marwil, ladder=self.ladder, on_iteration=report
                )
        return variants

    def _best(self, variants: Mapping[str, ScoreNetwork]) -> tuple[str, ScoreNetwork]:
        for name, network in variants.items():
            judged = judge(network.state_to_numpy(), self.validation, self.settings.choice, self.ladder)
            self.scores[name] = judged.score
            mlflow.log_metric(f"{name}.validation_score_chosen_by", judged.score)
        best = min(self.scores, key=self.scores.__getitem__)
        mlflow.set_tag("variant", best)
        return best, variants[best]


@contextmanager
def _stage(progress: Progress, stage: str, total: int, watched: str) -> Iterator[Report]:
    """Gives a callback that takes metrics to MLflow and the progress bar; afterwards plots the watched one."""
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


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
