"""`poolpilot learn calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from poolpilot.env.output import check_folder, terminal, write_json
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from poolpilot.native_pool.simulation import Machine
    from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings


def run(settings: "CalibrateSettings", json_path: Path | None) -> None:
    """Calibrates, writes the machine and shows how well it does; the exit code is 130 when interrupted."""
    from poolpilot.pipelines.calibrate.calibrate import calibrate
    from poolpilot.pipelines.calibrate.machine_file import write_machine
    from poolpilot.pipelines.logged_run import logged_run

    console = terminal()
    check_folder(settings.output)

    def keep(machine: "Machine") -> None:
        write_machine(settings.output, machine)
        console.print(f"the machine is in {settings.output}", soft_wrap=True)

    with logged_run("calibrate", settings, settings.tracking) as logged:
        calibration = calibrate(settings, console, keep)
        logged.result = calibration.as_dict()
        if calibration.stopped:
            logged.ending = "KILLED"
        console.print(calibration.table())
        write_json(json_path, logged.result)
    if calibration.stopped:
        raise typer.Exit(INTERRUPTED)
