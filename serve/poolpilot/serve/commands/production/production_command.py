"""`poolpilot demo-production`: an untouched server, the best constant and a tuner on the same load that shifts."""

import shutil
from collections.abc import Callable
from pathlib import Path

from poolpilot.env.output import make_folder, terminal
from poolpilot.serve.commands.options.settings_command import as_command
from poolpilot.serve.commands.production.incidents import check
from poolpilot.serve.commands.production.production_demo import ProductionDemo
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings

HELP = (
    "Show a tuner in production, on a private MariaDB whose load has three phases: beside never touching it and the "
    "best constant; then a planted bad prediction, and a tuner that is killed.\n\n"
    "It ends with 0 only if the bad prediction was rolled back within two windows and the keeper gave the killed "
    "tuner's configuration back. Figures are shown with their noise and decide nothing."
)
PANELS = {
    "How long": ("quick", "arm_s", "tuner_s", "turns", "turn_s", "window_s", "settle_s", "deadline_s"),
    "Files": ("output", "lab", "config", "json_path"),
}
"""The groups of the help."""


def build() -> Callable[..., None]:
    """The command `poolpilot demo-production`."""
    return as_command(ProductionDemoSettings, demo_production, HELP, panels=PANELS)


def demo_production(settings: ProductionDemoSettings, json_path: Path | None) -> None:
    """Runs the demonstration; the arms and incidents that are over are on the disk, however it ends.

    Raises:
        KeyboardInterrupt: It was ended; tuner, load and server have stopped.
        ServerError: Server or load failed, or what must happen did not.
        SettingError: The report cannot be written.
    """
    make_folder(settings.output)
    console = terminal()
    demo = ProductionDemo(settings, console, (settings.output / "report.json", json_path))
    demo.report.write()
    forget_earlier(demo)
    with demo.page_shown():
        demo.run()
    console.print(f"{demo.report.seconds:.0f} s. Report and decisions: {settings.output}/")
    check(demo.report.rolled_back, demo.report.given_back)


def forget_earlier(demo: ProductionDemo) -> None:
    """Removes what tuners of an earlier demonstration have decided, and nothing else that lies there."""
    for log in demo.tuner_logs:
        shutil.rmtree(log, ignore_errors=True)
