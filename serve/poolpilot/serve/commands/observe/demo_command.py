"""`poolpilot demo`: the main job on the embedded live pool."""

from collections.abc import Sequence
from pathlib import Path

from poolpilot.env.output import make_folder, terminal, write_json
from poolpilot.errors import ArtefactError
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.artefact import Artefact
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import load_champion
from poolpilot.pipelines.demo.deadline import Deadline
from poolpilot.pipelines.demo.demo_picture import draw_picture
from poolpilot.pipelines.demo.demo_report import foreign_story, report_of, story_of, workload_table
from poolpilot.pipelines.demo.demo_screen import DemoScreen
from poolpilot.pipelines.demo.demo_settings import SURPLUS_THREADS_LIVE_S, DemoSettings, MariadbDemoSettings
from poolpilot.pipelines.demo.demo_stages import demo_workloads, mariadb_stages, native_stage
from poolpilot.pipelines.demo.phases import DemoRun, WorkloadDemo
from poolpilot.pipelines.evaluate.stage import Stage


def demo(settings: DemoSettings, json_path: Path | None = None) -> None:
    """Runs the demonstration on the embedded pool and writes report.json and the pictures.

    Raises:
        ArtefactError: The model is missing, damaged or names no static tuple.
        SettingError: The report cannot be written.
        ServerError: The pool or its load failed.
    """
    stages = [native_stage(one, SURPLUS_THREADS_LIVE_S) for one in demo_workloads(settings.seed)]
    show(stages, settings, "native", json_path)


def demo_mariadb(settings: MariadbDemoSettings, json_path: Path | None = None) -> None:
    """Runs the demonstration on a test server; see `demo`."""
    show(mariadb_stages(settings), settings, "mariadb", json_path)


def show(stages: Sequence[Stage], settings: DemoSettings, kind: ModelKind, json_path: Path | None) -> None:
    """Runs and shows workload after workload; what has been shown is on the disk.

    Raises:
        SettingError: The report cannot be written.
    """
    console = terminal()
    make_folder(settings.output)
    static_tuple = _static_tuple(load_champion(None, kind))
    predictor = Advisor.load(settings.model, kind, Purpose.WARM_START)
    deadline = Deadline.after(settings.seconds)
    runs: list[DemoRun] = []
    for number, stage in enumerate(stages):
        own = deadline.part(1.0 / (len(stages) - number))
        screen = DemoScreen(console, deadline, f"{number + 1} of {len(stages)}")
        with screen.shown():
            demo_of = WorkloadDemo(stage, settings.schedule, own, settings.seed, predictor, static_tuple, screen)
            runs.append(demo_of.run())
        # Written anew after every workload: an interrupted demonstration leaves what it has shown.
        report = report_of(settings.seed, static_tuple, runs)
        for path in (settings.output / "report.json", json_path):
            write_json(path, report)
        draw_picture(runs[-1], settings.output / f"{stage.family}.png")
        console.print(workload_table(report["workloads"][-1]))
        console.print(story_of(report["workloads"][-1]), "")
    if len(runs) > 1:
        console.print(foreign_story(report))
    console.print(f"Noise of a window: {100 * report['noise']:.1f} %. Report and pictures: {settings.output}/")


def _static_tuple(artefact: Artefact) -> tuple[int, int, int]:
    if artefact.card.static_tuple is None:
        raise ArtefactError("the model names no single best static configuration to compare with; train it anew")
    return artefact.card.static_tuple
