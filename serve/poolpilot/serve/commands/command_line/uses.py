"""Every use of a command: the model of its settings, and what does its work."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import SettingError
from poolpilot.serve.commands.command_line.given_flags import CommandLine


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a command. Both modules are imported when they are asked for: some need an extra.

    Attributes:
        settings: Module and class of its settings, the module below `poolpilot` or below the commands.
        work: Module below the commands and function that takes the settings and where to write JSON.
    """

    settings: str
    work: str

    def model(self) -> type[ProgramSettings]:
        """The class of its settings."""
        model: type[ProgramSettings] = found_at(self.settings)
        return model


CATALOGUE = {
    "advise": Use("observe.advise_command:AdviseSettings", "observe.advise_command:advise"),
    "advise --windows": Use("observe.predict_command:PredictSettings", "observe.predict_command:predict"),
    "advise --simulate": Use("pipelines.calibrate.what_if:SimulateSettings", "observe.simulate_command:run"),
    "bundle": Use("bundle.bundle_command:BundleSettings", "bundle.bundle_command:bundle"),
    "check": Use("observe.check_command:CheckSettings", "observe.check_command:check_server"),
    "climb": Use("climb.climb_run_settings:ClimbRunSettings", "climb.climb_command:climb"),
    "climb --search": Use("search.search_settings:SearchRunSettings", "search.search_command:run"),
    "climb --sweep": Use("act.sweep_command:SweepSettings", "act.sweep_command:sweep"),
    "demo": Use("pipelines.demo.demo_settings:DemoSettings", "observe.demo_command:demo"),
    "demo --mariadb": Use("pipelines.demo.demo_settings:MariadbDemoSettings", "observe.demo_command:demo_mariadb"),
    "demo --production": Use(
        "production.production_settings:ProductionDemoSettings", "production.production_command:demo_production"
    ),
    "evaluate": Use("pipelines.evaluate.live.live_evaluate:EvaluateAnywhereSettings", "learn.evaluate_command:run"),
    "grants": Use("observe.grants_command:GrantsSettings", "observe.grants_command:grants"),
    "lab disk": Use("learn.lab_command:DiskSettings", "learn.lab_command:disk"),
    "lab down": Use("learn.lab_command:DownSettings", "learn.lab_command:down"),
    "lab load": Use("learn.lab_load:LabLoadSettings", "learn.lab_load:load"),
    "lab up": Use("learn.lab_command:UpSettings", "learn.lab_command:up"),
    "learn": Use("pipelines.learn.learn_settings:LearnSettings", "learn.learn_command:run"),
    "learn calibrate": Use("pipelines.calibrate.calibrate:CalibrateSettings", "learn.calibrate_command:run"),
    "learn collect": Use("pipelines.collect.collect_settings:CollectSettings", "learn.collect_command:run"),
    "learn curves": Use("pipelines.train.fit_curves:FitCurvesSettings", "learn.curves_command:run"),
    "learn promote": Use("pipelines.train.promote:PromoteSettings", "learn.promote_command:run"),
    "learn train": Use("pipelines.train.train_settings:TrainSettings", "learn.train_command:run"),
    "page": Use("observe.page_command:PageSettings", "observe.page_command:page"),
    "records": Use("learn.records_show_command:RecordsShowSettings", "learn.records_show_command:show"),
    "records --check": Use("learn.records_command:RecordsCheckSettings", "learn.records_command:check"),
    "records --sql": Use("learn.records_sql_command:RecordsSqlSettings", "learn.records_sql_command:sql"),
    "restore": Use("act.restore_command:RestoreSettings", "act.restore_command:restore"),
    "serve": Use("serve.service.service_settings:ServeSettings", "act.serve_command:serve"),
    "tune": Use("tune.tune_settings:TuneSettings", "tune.tune_command:tune"),
    "why": Use("tune.why_command:WhySettings", "tune.why_command:why"),
}


def use_named(name: str) -> Use:
    """The use of a command, such as `tune`, `climb --search` or `learn train`.

    Raises:
        SettingError: There is none.
    """
    if name not in CATALOGUE:
        raise SettingError(f"no command {name!r} has settings: name one of {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def run(name: str, line: CommandLine) -> None:
    """Does what a use of a command does with what was given.

    Raises:
        SettingError: A flag is not of this use, or a value is refused; and what the command raises.
    """
    use = use_named(name)
    found_at(use.work)(line.settings(use.model(), name), line.json_path)


def found_at(place: str) -> Any:
    """What stands at a place, such as `tune.tune_command:tune`; commands import this package, and not it them."""
    module, name = place.split(":")
    inside = "poolpilot" if module.startswith(("pipelines.", "serve.")) else "poolpilot.serve.commands"
    return getattr(import_module(f"{inside}.{module}"), name)
