"""`poolpilot demo --production`: an untouched server, the best constant and a tuner on the same load that shifts."""

import shutil
from pathlib import Path

from poolpilot.env.output import make_folder, terminal
from poolpilot.serve.commands.production.incidents import check
from poolpilot.serve.commands.production.production_demo import ProductionDemo
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings


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
