"""`poolpilot promote`: the gate between a trained model and the champion."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mlflow
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.output import terminal
from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.champion import CHAMPIONS, Kind, champion_folder
from poolpilot.pipelines.evaluate.baselines import fit_baselines, methods_of
from poolpilot.pipelines.evaluate.evaluate import check_grid, log_evaluation, tracked_data
from poolpilot.pipelines.evaluate.evaluation import SBS, Evaluation, evaluate_methods
from poolpilot.pipelines.evaluate.record_settings import RecordSettings
from poolpilot.pipelines.progress_bars import ProgressBars, progress_bars
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.tracking import tracked_run
from poolpilot.pipelines.train.registry import register, set_production_alias, set_status

PREDICTED = "predicted"


class PromoteSettings(RecordSettings):
    """Settings of `poolpilot promote`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PROMOTE_")

    server: Kind = Field(default="native", description="Kind of server the model is for.")
    candidate: Path = Field(default=Path("artefact"), description="Folder of the model to promote.")
    champion: Path | None = Field(default=None, description="Folder of the champion; the one in use if not given.")
    margin: float = Field(
        default=0.01, ge=0.0, description="Mean regret by which the candidate may be worse than the champion."
    )
    dry_run: bool = Field(default=False, description="Whether to say what would happen and change nothing.")


@dataclass(frozen=True)
class Promotion:
    """What the gate said.

    Attributes:
        candidate: Digest of the candidate.
        champion: Digest of the champion before; None if there was none of this version.
        regrets: Mean validation regret of candidate, champion and SBS.
        objections: Why the candidate is refused, as sentences; empty when it passed.
        promoted: Whether the champion was replaced.
    """

    candidate: str
    champion: str | None
    regrets: dict[str, float]
    objections: tuple[str, ...]
    promoted: bool


def promote(settings: PromoteSettings, console: Console | None = None) -> Promotion:
    """Judges a candidate on the validation split and, if it passes, makes it the champion.

    It passes when its mean regret is below that of the single best static tuple and at most `margin` above that of
    the champion, both measured now on the same windows. Then its files replace the champion's and, if that is the
    champion in use, the registry's alias `champion` moves to its version. The test split is not looked at.

    Args:
        settings: Which candidate, and what it must beat.
        console: Where progress is shown.

    Raises:
        DamagedArtefactError: The candidate or the champion is damaged.
        ArtefactError: There is no candidate of this version, it is for another kind of server, or the champion's folder
            cannot be written.
        StoreError: The store lacks the training or the validation split.
    """
    candidate = _candidate(settings)
    folder = champion_folder(settings.champion, settings.server)
    champion = _champion(folder)
    dataset = read_dataset(settings.store, "train", "validation")
    check_grid(candidate, dataset)
    validation = dataset.of_split("validation")
    tracked = tracked_run("promote", settings, settings.tracking, tracked_data(dataset, "validation"))
    with tracked, progress_bars(console or terminal()) as bars:
        regrets = _regrets(settings, candidate, champion, dataset, bars)
        objections = objections_to(regrets, settings.margin)
        mlflow.log_metrics({f"mean_regret.{name}": value for name, value in regrets.items()})
        if not settings.dry_run:
            _settle(settings, folder, validation, passed=not objections)
    before = None if champion is None else champion.digest
    return Promotion(candidate.digest, before, regrets, objections, not objections and not settings.dry_run)


def _regrets(
    settings: PromoteSettings,
    candidate: Artefact,
    champion: Artefact | None,
    dataset: SweepDataset,
    bars: ProgressBars,
) -> dict[str, float]:
    """Mean validation regrets of the candidate, of SBS and of a champion on the same grid; logs the candidate's."""
    baselines = fit_baselines(dataset.of_split("train"), dataset.grid, settings.baselines, bars)

    def evaluated(artefact: Artefact) -> Evaluation:
        methods = methods_of(artefact, baselines, settings.decisions, settings.comparison)
        return evaluate_methods(dataset.of_split("validation"), methods, settings.comparison, "validation", bars)

    evaluation = evaluated(candidate)
    log_evaluation(evaluation)
    regrets = {"candidate": mean_regret(evaluation, PREDICTED), SBS: mean_regret(evaluation, SBS)}
    if champion is not None and champion.card.grid == dataset.grid:
        regrets["champion"] = mean_regret(evaluated(champion), PREDICTED)
    return regrets


def _settle(settings: PromoteSettings, folder: Path, validation: Sequence[WorkloadSweep], *, passed: bool) -> None:
    """Registers the candidate with its status; one that passed becomes the champion in the folder."""
    version = register(settings.candidate, validation)
    set_status(version, "passed" if passed else "refused")
    if passed:
        artefact_folder.write(folder, artefact_folder.read(settings.candidate))
        if in_use(folder, settings.server):
            set_production_alias(version, CHAMPIONS[settings.server][0])


def _candidate(settings: PromoteSettings) -> Artefact:
    candidate = load(settings.candidate)
    if candidate.card.kind != settings.server:
        raise ArtefactError(
            f"the model in {settings.candidate} is for the kind of server {candidate.card.kind!r} and cannot be the "
            f"champion for {settings.server!r}: give --server {candidate.card.kind}, or another candidate"
        )
    return candidate


def mean_regret(evaluation: Evaluation, method: str) -> float:
    """Mean regret of a method over workloads and starts."""
    regrets = [outcome.regret for outcome in evaluation.outcomes[method]]
    return sum(regrets) / len(regrets)


def objections_to(regrets: dict[str, float], margin: float) -> tuple[str, ...]:
    """Why a candidate must not become the champion, as sentences; empty when nothing speaks against it."""
    mine = regrets["candidate"]
    objections = []
    if mine >= regrets[SBS]:
        objections.append(
            f"its mean regret on the validation workloads is {mine:.1%}, not below the {regrets[SBS]:.1%} of the "
            "single best static tuple"
        )
    if "champion" in regrets and mine > regrets["champion"] + margin:
        objections.append(
            f"its mean regret on the validation workloads is {mine:.1%}, more than {margin:.1%} above the "
            f"{regrets['champion']:.1%} of the champion"
        )
    return tuple(objections)


def in_use(folder: Path, server: Kind) -> bool:
    """Whether a folder is that of the champion in use, whose alias the registry shares with everybody."""
    return folder.resolve() == champion_folder(None, server).resolve()


def _champion(folder: Path) -> Artefact | None:
    """The champion; None if there is none or another version of this program wrote it.

    Raises:
        DamagedArtefactError: There is one, but nobody can say how good it is.
    """
    if not artefact_folder.holds_artefact(folder):
        return None
    try:
        return load(folder)
    except DamagedArtefactError as error:
        raise DamagedArtefactError(
            f"the candidate cannot be compared with the champion, which is damaged: {error}; or remove {folder} to "
            "promote without a comparison"
        ) from error
    except ArtefactError:
        return None
