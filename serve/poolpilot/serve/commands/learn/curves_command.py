"""`poolpilot learn curves`."""

from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import check_folder, terminal, write_json

if TYPE_CHECKING:
    from poolpilot.pipelines.train.fit_curves import FitCurvesSettings


def run(settings: "FitCurvesSettings", json_path: Path | None) -> None:
    """Simulates the curves, writes them, and says how many there are."""
    from poolpilot.pipelines.train.fit_curves import fit_curves

    console = terminal()
    check_folder(settings.output)
    curves = fit_curves(settings, console)
    curves.save(settings.output)
    console.print(f"{len(curves.curves)} response curves are in {settings.output}", soft_wrap=True)
    write_json(json_path, {"curves": len(curves.curves), "source": curves.source, "digest": curves.digest})
