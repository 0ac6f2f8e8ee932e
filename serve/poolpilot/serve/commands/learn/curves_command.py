"""`poolpilot curves`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.env.output import check_folder, terminal, write_json
from poolpilot.serve.commands.options.settings_command import as_command

if TYPE_CHECKING:
    from poolpilot.pipelines.train.fit_curves import FitCurvesSettings

HELP = (
    "Simulate response curves: what many workloads are worth under many configurations, on machines of any size.\n\n"
    "They are all that the latent bandit of `poolpilot evaluate --workloads` knows (docs/evaluation.md)."
)

PANELS = {
    "What is simulated": ("workloads", "composed", "requests", "seed"),
    "What was recorded": ("stores", "older_timer"),
}
"""The groups of the help."""


def build() -> Callable[..., None]:
    """The command `poolpilot curves`."""
    from poolpilot.pipelines.train.fit_curves import FitCurvesSettings

    return as_command(FitCurvesSettings, run, HELP, panels=PANELS)


def run(settings: "FitCurvesSettings", json_path: Path | None) -> None:
    """Simulates the curves, writes them, and says how many there are."""
    from poolpilot.pipelines.train.fit_curves import fit_curves

    console = terminal()
    check_folder(settings.output)
    curves = fit_curves(settings, console)
    curves.save(settings.output)
    console.print(f"{len(curves.curves)} response curves are in {settings.output}", soft_wrap=True)
    write_json(json_path, {"curves": len(curves.curves), "source": curves.source, "digest": curves.digest})
