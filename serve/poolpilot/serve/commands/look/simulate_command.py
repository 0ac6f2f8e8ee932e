"""`poolpilot simulate`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.calibrate.what_if import SimulateSettings

HELP = "What if: simulate the workload of a recorded profile under other configurations."


def build() -> Callable[..., None]:
    """The command `poolpilot simulate`."""
    from poolpilot.pipelines.calibrate.what_if import SimulateSettings

    return as_command(SimulateSettings, run, HELP)


def run(settings: "SimulateSettings", json_path: Path | None) -> None:
    """Simulates and shows the tables; writes the heat maps where they are asked for."""
    from poolpilot.pipelines.calibrate.what_if import what_if

    found = what_if(settings)
    terminal().print(found.shown())
    if settings.png is not None:
        found.figure().savefig(settings.png, dpi=120)
    write_json(json_path, found.as_dict())
