"""`poolpilot learn promote`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

if TYPE_CHECKING:
    from poolpilot.pipelines.train.promote import PromoteSettings, Promotion


def run(settings: "PromoteSettings", json_path: Path | None) -> None:
    """Promotes; the exit code is 3 when the gate refuses."""
    from poolpilot.pipelines.train.promote import promote

    console = terminal()
    promotion = promote(settings, console)
    console.print(promotion_table(promotion))
    write_json(json_path, asdict(promotion))
    if promotion.objections:
        raise typer.Exit(REFUSED)


def promotion_table(promotion: "Promotion") -> Table:
    """What the gate said, as people read it."""
    table = Table(title="Promotion", show_header=False, title_justify="left")
    for name, value in promotion.regrets.items():
        table.add_row(f"mean regret of the {name}", f"{value:.2%}")
    for objection in promotion.objections:
        table.add_row("refused", objection)
    passed = "is now the champion" if promotion.promoted else "would become the champion (dry run)"
    if not promotion.objections:
        table.add_row("candidate", f"{promotion.candidate[:12]} {passed}")
    return table
