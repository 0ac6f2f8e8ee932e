"""`poolpilot advise --simulate FILE`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import check_folder, terminal, write_json
from poolpilot.errors import SettingError

if TYPE_CHECKING:
    from poolpilot.pipelines.calibrate.what_if import SimulateSettings, WhatIf


def run(settings: "SimulateSettings", json_path: Path | None) -> None:
    """Simulates and shows the tables; writes the heat maps where they are asked for.

    Raises:
        SettingError: A file cannot be read or written, or there is nothing to draw.
        FeatureError: The profile lacks what a workload is rebuilt from.
    """
    from poolpilot.pipelines.calibrate.what_if import what_if

    _check_picture(settings)
    found = what_if(settings)
    terminal().print(found.shown())
    write_json(json_path, found.as_dict())
    if settings.png is not None:
        _draw(found, settings.png)


def _check_picture(settings: "SimulateSettings") -> None:
    """Refuses a picture that could not be drawn at the end."""
    if settings.png is None:
        return
    if not settings.grid:
        raise SettingError("there is nothing to draw: --png needs --grid")
    check_folder(settings.png)
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    suffix = settings.png.suffix.removeprefix(".").lower()
    if suffix not in kinds:
        raise SettingError(f"cannot draw into {settings.png}: its name must end in one of .{', .'.join(sorted(kinds))}")


def _draw(found: "WhatIf", path: Path) -> None:
    try:
        found.figure().savefig(path, dpi=120)
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror or error}") from error
