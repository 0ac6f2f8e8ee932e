"""`poolpilot evaluate --workloads`: every method live on somebody's workload files; goes on where it was stopped."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.progress import Progress, TaskID

from poolpilot.env.measurement.other_work import other_work
from poolpilot.env.output import warn
from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.lab_server import LabPlace
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.card import program
from poolpilot.models.champion import CHAMPIONS, load_any_machine, load_champion
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings
from poolpilot.pipelines.evaluate.live.judging.live_result import LiveResult
from poolpilot.pipelines.evaluate.live.live_methods import EvaluatedMethods, methods_on
from poolpilot.pipelines.evaluate.live.live_report import LeftOut, LiveReport
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings, run_workload
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace, MethodSettings
from poolpilot.pipelines.evaluate.live.whole_cycles import methods_in_cycles, run_in_cycles
from poolpilot.pipelines.evaluate.live.workload_files import read_stages
from poolpilot.pipelines.evaluate.stage import Stage
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import new_progress


class WorkloadFilesSettings(BaseModel):
    """How methods are evaluated on workload files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: LabPlace = LabPlace()
    curves: Path | None = Field(default=None, description="File of response curves; those of the package if not given.")
    methods: MethodSettings = MethodSettings()
    run: LiveRunSettings = LiveRunSettings()
    mariadb: MariadbPace = MariadbPace()
    runs: Path | None = Field(
        default=None,
        description="File of finished workloads, so that a stopped evaluation goes on; none keeps nothing.",
    )
    resamples: int = Field(default=5000, ge=100, description="Bootstrap samples of the intervals.")

    def run_of(self, cycle_s: float, on_mariadb: bool) -> LiveRunSettings:
        """How long one workload is watched, by its cycle and its server."""
        paced = self.run.model_copy(update={"budget_s": self.mariadb.budget_s}) if on_mariadb else self.run
        return run_in_cycles(paced, cycle_s)


class EvaluateAnywhereSettings(EvaluateSettings):
    """Settings of `poolpilot evaluate`: on records, on a test server, or on workload files."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_EVALUATE_")

    workloads: Path | None = Field(
        default=None, description="Folder of workload files: every method is evaluated live on them instead."
    )
    files: WorkloadFilesSettings = WorkloadFilesSettings()


def evaluate_files(folder: Path, model: Path | None, settings: WorkloadFilesSettings, console: Console) -> LiveReport:
    """Evaluates every method on every file of a folder.

    Args:
        folder: The workload files.
        model: Folder of the network's artefact; the champion if None.
        settings: How.
        console: Where progress is shown.

    Raises:
        SettingError: A file is not a workload file, or there is none; or a method was asked for that there is not.
        ArtefactError: The response curves or a model are missing or damaged.
        StoreError: A store to learn from has no training workload.
        ServerError: No workload could be measured.
    """
    stages = read_stages(folder, settings.place)
    known = networks(model)
    methods = _Methods(load_curves(settings.curves), known, settings)
    methods.of()  # a name of no method ends it before anything is measured
    asked = methods.asked
    rows = {(row["workload"], row.get("file")): row for row in read_runs(settings.runs) if row.get("asked") == asked}
    done: dict[str, LiveResult] = {}
    failed: dict[str, str] = {}
    beside = [] if all(stage.in_virtual_time for stage in stages) else other_work()
    warn([*(f"{stage.name}: {one}" for stage in stages for one in stage.remarks), *beside], console)
    with opened_for_more(settings.runs) as out, new_progress(console) as progress:
        bar = progress.add_task("evaluating", total=len(stages), shown="")
        for stage in stages:
            if (row := rows.get((stage.name, stage.digest))) is not None:
                done[stage.name] = LiveResult.from_dict(row["result"])
            else:
                result = _measured(stage, methods, settings, partial(_show, progress, bar, stage.name), console)
                if isinstance(result, LiveResult):
                    kept = {"workload": stage.name, "file": stage.digest, "asked": asked, "result": result.as_dict()}
                    keep_run(kept, out)
                    done[stage.name] = result
                else:
                    failed[stage.name] = result
            progress.advance(bar)
    if not done:
        raise ServerError(f"none of the workloads in {folder} could be measured")
    left_out = LeftOut(failed, methods.of().left_out)
    return LiveReport(list(done.values()), settings.resamples, settings.run.seed, left_out)


def networks(model: Path | None) -> list[Artefact]:
    """The champions of every kind of server; a model that is named takes the place of that of its kind.

    Raises:
        ArtefactError: One is missing or damaged.
    """
    named = [] if model is None else [load_champion(model)]
    taken = {artefact.card.kind for artefact in named}
    return [*named, *(load_champion(None, kind) for kind in CHAMPIONS if kind not in taken)]


class _Methods:
    """The methods at the pace of MariaDB and of other servers, for each length of cycle of repeating loads.

    Args:
        curves: Known response curves.
        known: The networks.
        settings: Which methods, and how they measure.
    """

    def __init__(self, curves: ResponseCurves, known: Sequence[Artefact], settings: WorkloadFilesSettings) -> None:
        self.of = cache(partial(self._made, curves, known, settings))
        self.asked = _asked(curves, known, settings)

    @staticmethod
    def _made(
        curves: ResponseCurves,
        known: Sequence[Artefact],
        settings: WorkloadFilesSettings,
        cycle_s: float = 0.0,
        on_mariadb: bool = False,
    ) -> EvaluatedMethods:
        paced = settings.methods.on_mariadb(settings.mariadb) if on_mariadb else settings.methods
        budget_s = settings.run_of(cycle_s, on_mariadb).budget_s
        return methods_on(curves, known, methods_in_cycles(paced, cycle_s), budget_s)


def _asked(curves: ResponseCurves, known: Sequence[Artefact], settings: WorkloadFilesSettings) -> str:
    """What a finished workload must have been measured with to be taken up again."""
    further = [load(folder).digest for folder in settings.methods.model_folders.values()]
    stores = [_content(folder) for folder in settings.methods.stores]
    networks = (*known, load_any_machine())
    digests = (program(), curves.digest, *(one.digest for one in networks), *further, *stores)
    paces = (settings.methods.model_dump(), settings.run.model_dump(), settings.mariadb.model_dump())
    asked = repr((digests, settings.place.server.model_dump(), settings.place.watch.model_dump(), *paces))
    return hashlib.sha256(asked.encode()).hexdigest()


def _content(folder: Path) -> list[tuple[str, int, int]]:
    """What tells one state of a store from another: names, sizes and times of its files."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return [(str(file.relative_to(folder)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def _show(progress: Progress, bar: TaskID, name: str, step: str) -> None:
    progress.update(bar, shown=f"{name}: {step}")


def _measured(
    stage: Stage,
    methods: _Methods,
    settings: WorkloadFilesSettings,
    on_step: Callable[[str], None],
    console: Console,
) -> LiveResult | str:
    """What came out of a workload, or why nothing did."""
    try:
        opened = methods.of(stage.cycle_s, stage.on_mariadb).opened
        return run_workload(stage, opened, settings.run_of(stage.cycle_s, stage.on_mariadb), on_step)
    except (ServerError, SettingError) as error:
        warn([f"{stage.name} is left out: {error}"], console)
        return str(error)
