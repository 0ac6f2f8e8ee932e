"""`poolpilot learn promote`: the gate between a trained model and the champion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
from mlflow.exceptions import MlflowException
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.output import terminal, warn
from poolpilot.errors import ArtefactError, DamagedArtefactError, ServerError
from poolpilot.models import artefact_folder
from poolpilot.models.artefact import Artefact, load, parse
from poolpilot.models.champion import CHAMPIONS, Kind, champion_folder
from poolpilot.pipelines.evaluate.baselines import fit_baselines, methods_of
from poolpilot.pipelines.evaluate.censored_sweeps import censored_sweeps
from poolpilot.pipelines.evaluate.evaluate import check_grid, log_evaluation, tracked_data
from poolpilot.pipelines.evaluate.evaluation import SBS, Evaluation
from poolpilot.pipelines.evaluate.record_settings import KindRecordSettings
from poolpilot.pipelines.evaluate.replayed_methods import evaluate_methods
from poolpilot.pipelines.evaluate.statistics.regret_statistics import FEWEST_WORKLOADS
from poolpilot.pipelines.progress_bars import ProgressBars, progress_bars
from poolpilot.pipelines.store.dataset import SweepDataset, read_dataset
from poolpilot.pipelines.store.older_timer import OlderTimer
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.tracking import tracked_run
from poolpilot.pipelines.train.registry import register, set_production_alias, set_status

PREDICTED = "predicted"


class PromoteSettings(KindRecordSettings):
    """Settings of `poolpilot learn promote`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_PROMOTE_")

    server: Kind = Field(default="native", description="Kind of server the model is for.")
    candidate: Path = Field(default=Path("artefact"), description="Folder of the model to promote.")
    champion: Path | None = Field(default=None, description="Folder of the champion; the one in use if not given.")
    older_timer: OlderTimer = False
    margin: float = Field(
        default=0.01, ge=0.0, description="Mean regret by which the candidate may be worse than the champion."
    )
    without_comparison: bool = Field(
        default=False,
        description="Whether to promote also where the champion cannot be compared, whatever it is worth.",
    )
    dry_run: bool = Field(default=False, description="Whether to say what would happen and change nothing.")


@dataclass(frozen=True)
class Promotion:
    """What the gate said.

    Attributes:
        candidate: Digest of the candidate.
        champion: Digest of the champion before; None if there was none that it could be compared with.
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

    It passes when its mean regret is below that of the single best static configuration and at most `margin` above that
    of the champion, both measured now on the same windows of at least `FEWEST_WORKLOADS` workloads that can judge; for
    MariaDB on those without the clients' reports. Then its files replace the champion's and, if that is the champion
    in use, the registry's alias `champion` moves to its version. The test split is not read.

    Args:
        settings: Which candidate, and what it must beat.
        console: Where progress is shown.

    Raises:
        DamagedArtefactError: The candidate or the champion is damaged.
        ArtefactError: There is no candidate of this version, it or the champion is for another kind of server, the
            champion cannot be compared and nobody has said to do without, or its folder cannot be written.
        ServerError: The model is in force and the registry's alias could not be moved.
        StoreError: The store lacks the training or the validation split, or `records --check` finds a fault in
            it.
    """
    shown = console or terminal()
    files = artefact_folder.read(settings.candidate)
    candidate = _candidate(settings, files)
    folder = champion_folder(settings.champion, settings.server)
    stores = [CheckedStore(settings.store, ("train", "validation"))]
    warn(RecordCheck.of(stores, older_timer=settings.older_timer).refuse(), shown)
    dataset = read_dataset(settings.store, "train", "validation")
    check_grid(candidate, dataset)
    champion = _champion(settings, folder, candidate, shown)
    validation = dataset.of_split("validation")
    tracked = tracked_run("promote", settings, settings.tracking, tracked_data(dataset, "validation"))
    with tracked, progress_bars(shown) as bars:
        regrets = _regrets(settings, candidate, champion, dataset, bars)
        can_judge = len(validation) - len(censored_sweeps(validation))
        objections = objections_to(regrets, settings.margin, can_judge)
        mlflow.log_metrics({f"mean_regret.{name}": value for name, value in regrets.items()})
        if not settings.dry_run:
            _settle(settings, folder, files, validation, passed=not objections)
    before = None if champion is None else champion.digest
    return Promotion(candidate.digest, before, regrets, objections, not objections and not settings.dry_run)


def _regrets(
    settings: PromoteSettings,
    candidate: Artefact,
    champion: Artefact | None,
    dataset: SweepDataset,
    bars: ProgressBars,
) -> dict[str, float]:
    """Mean validation regrets of the candidate, of SBS and of the champion; logs the candidate's."""
    judged = dataset.of_split("validation")
    if settings.server == "mariadb":  # in production nobody sees what the clients see
        judged = [sweep.server_view() for sweep in judged]
        dataset = dataset.with_server_views()
    baselines = fit_baselines(dataset.of_split("train"), dataset.grid, settings.baselines, bars)

    def evaluated(artefact: Artefact) -> Evaluation:
        methods = methods_of(artefact, baselines, settings.decisions, settings.comparison)
        return evaluate_methods(judged, methods, settings.comparison, "validation", bars)

    evaluation = evaluated(candidate)
    log_evaluation(evaluation)
    regrets = {"candidate": mean_regret(evaluation, PREDICTED), SBS: mean_regret(evaluation, SBS)}
    if champion is not None:
        regrets["champion"] = mean_regret(evaluated(champion), PREDICTED)
    return regrets


def _settle(
    settings: PromoteSettings,
    folder: Path,
    files: Mapping[str, bytes],
    validation: Sequence[WorkloadSweep],
    *,
    passed: bool,
) -> None:
    """Registers what was judged with its status; if it passed, it becomes the champion in the folder."""
    with TemporaryDirectory() as made:
        judged = Path(made) / "judged"  # somebody may have written to the candidate's folder meanwhile
        artefact_folder.write(judged, files)
        version = register(judged, validation)
    set_status(version, "passed" if passed else "refused")
    if passed:
        artefact_folder.write(folder, files)
        if in_use(folder, settings.server):
            _move_alias(version, settings.server, folder)


def _move_alias(version: str, server: Kind, folder: Path) -> None:
    alias = CHAMPIONS[server][0]
    try:
        set_production_alias(version, alias)
    except MlflowException as error:
        raise ServerError(
            f"the model is in force in {folder}, but the alias {alias!r} could not be moved to version {version} in "
            f"MLflow's registry: {error.message}; run poolpilot learn promote again"
        ) from error


def _candidate(settings: PromoteSettings, files: Mapping[str, bytes]) -> Artefact:
    candidate = parse(files, settings.candidate)
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


def objections_to(regrets: dict[str, float], margin: float, workloads: int) -> tuple[str, ...]:
    """Why a candidate must not become the champion, as sentences; empty when nothing speaks against it.

    Args:
        regrets: Mean regrets of the candidate, of SBS and of the champion, where there is one.
        margin: Mean regret by which the candidate may be worse than the champion.
        workloads: On how many workloads they were measured.
    """
    mine = regrets["candidate"]
    objections = []
    if workloads < FEWEST_WORKLOADS:
        objections.append(
            f"it was judged on {workloads} validation workloads and {FEWEST_WORKLOADS} are needed: collect more"
        )
    if not mine < regrets[SBS]:  # neither is a number that is none
        objections.append(
            f"its mean regret on the validation workloads is {mine:.1%}, not below the {regrets[SBS]:.1%} of the "
            "single best static configuration"
        )
    if "champion" in regrets and not mine <= regrets["champion"] + margin:
        objections.append(
            f"its mean regret on the validation workloads is {mine:.1%}, more than {margin:.1%} above the "
            f"{regrets['champion']:.1%} of the champion"
        )
    return tuple(objections)


def in_use(folder: Path, server: Kind) -> bool:
    """Whether a folder is that of the champion in use, whose alias the registry shares with everybody."""
    return folder.resolve() == champion_folder(None, server).resolve()


def _champion(settings: PromoteSettings, folder: Path, candidate: Artefact, console: Console) -> Artefact | None:
    """The champion to compare with; None if there is none, or none that can be compared and none is asked for.

    Raises:
        DamagedArtefactError: There is one, but nobody can say how good it is.
        ArtefactError: It is for another kind of server, or cannot be compared and nobody has said to do without.
    """
    if not artefact_folder.holds_artefact(folder):
        return None
    try:
        champion = load(folder)
    except DamagedArtefactError as error:
        raise DamagedArtefactError(
            f"the candidate cannot be compared with the champion, which is damaged: {error}; or remove {folder} to "
            "promote without a comparison"
        ) from error
    except ArtefactError as error:
        _uncompared(settings, f"the candidate cannot be compared with the champion: {error}", console)
        return None
    if champion.card.kind != settings.server:
        raise ArtefactError(
            f"the champion in {folder} is for servers of the kind {champion.card.kind!r} and the candidate for "
            f"{settings.server!r}: name another folder with --set champion=FOLDER"
        )
    if set(champion.card.grid.tuples) <= set(candidate.card.grid.tuples):  # all that it may choose was measured
        return champion
    _uncompared(
        settings,
        f"the candidate cannot be compared with the champion in {folder}, which chooses from another grid of "
        "configurations",
        console,
    )
    return None


def _uncompared(settings: PromoteSettings, sentence: str, console: Console) -> None:
    """Says that the champion is not compared, where that is accepted."""
    if not settings.without_comparison:
        raise ArtefactError(f"{sentence}; give --set without_comparison=true to promote whatever the champion is worth")
    warn([sentence], console)
