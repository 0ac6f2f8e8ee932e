"""`poolpilot evaluate --workloads`: every method live on somebody's workload files; goes on where it was stopped."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.progress import Progress, TaskID

from poolpilot.env.lab.lab_server import LabPlace
from poolpilot.env.output import warn
from poolpilot.errors import ServerError
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings
from poolpilot.pipelines.evaluate.live.live_methods import MethodSettings, OpenMethod, methods_on
from poolpilot.pipelines.evaluate.live.live_report import LiveReport
from poolpilot.pipelines.evaluate.live.live_run import LiveResult, LiveRunSettings, run_workload
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
    runs: Path | None = Field(
        default=None,
        description="File of finished workloads, so that a stopped evaluation goes on; none keeps nothing.",
    )
    resamples: int = Field(default=5000, ge=100, description="Bootstrap samples of the intervals.")


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
        SettingError: A file is not a workload file, or there is none.
        ArtefactError: The response curves or the model are missing or damaged.
        ServerError: No workload could be measured.
    """
    stages = read_stages(folder, settings.place)
    methods = methods_on(load_curves(settings.curves), load_champion(model), settings.methods)
    done = {row["workload"]: LiveResult.from_dict(row["result"]) for row in read_runs(settings.runs)}
    with opened_for_more(settings.runs) as out, new_progress(console) as progress:
        bar = progress.add_task("evaluating", total=len(stages), shown="")
        for stage in stages:
            if stage.name not in done:
                result = _measured(stage, methods, settings.run, partial(_show, progress, bar, stage.name), console)
                if result is not None:
                    keep_run({"workload": stage.name, "result": result.as_dict()}, out)
                    done[stage.name] = result
            progress.advance(bar)
    if not done:
        raise ServerError(f"none of the workloads in {folder} could be measured")
    return LiveReport(_in_order(stages, done), settings.resamples, settings.run.seed)


def _show(progress: Progress, bar: TaskID, name: str, step: str) -> None:
    progress.update(bar, shown=f"{name}: {step}")


def _measured(
    stage: Stage,
    methods: Mapping[str, OpenMethod],
    settings: LiveRunSettings,
    on_step: Callable[[str], None],
    console: Console,
) -> LiveResult | None:
    try:
        return run_workload(stage, methods, settings, on_step)
    except ServerError as error:
        warn([f"{stage.name} is left out: {error}"], console)
        return None


def _in_order(stages: Sequence[Stage], done: Mapping[str, LiveResult]) -> list[LiveResult]:
    return [done[stage.name] for stage in stages if stage.name in done]
