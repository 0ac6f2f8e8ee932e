"""The table of the demonstration of production: requests a second and p99 of each phase under each arm."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen

Arms = Mapping[str, Sequence[PhaseSeen]]
"""What was seen of each phase, by the name of the arm."""


def arms_table(arms: Arms, phases: Sequence[SqlWorkload]) -> Table:
    """Phases below one another, the arms of each beside their figures."""
    title = "Requests a second (standard error) and p99, as the clients saw them"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False)
    for heading in ("phase", "arm", "requests/s", "gain", "class", "1/s", "p99 ms"):
        table.add_column(heading, justify="left" if heading in ("phase", "arm", "class") else "right")
    untouched = next(iter(arms.values()))
    for place, workload in enumerate(phases):
        for number, (arm, seen) in enumerate(arms.items()):
            phase = seen[place]
            for row, one in enumerate(workload.classes):
                table.add_row(
                    workload.name if number + row == 0 else "",
                    arm if row == 0 else "",
                    f"{phase.throughput_per_s:.0f} ({phase.error_per_s:.0f})" if row == 0 else "",
                    _ratio(phase, untouched[place]) if row == 0 else "",
                    one.name,
                    f"{phase.class_per_s(one.name):.1f}",
                    f"{phase.p99_ms(one.name):.0f}",
                )
        table.add_section()
    return table


def arms_as_dict(arms: Arms) -> dict[str, Any]:
    """The same fit for JSON."""
    return {arm: [phase.as_dict() for phase in seen] for arm, seen in arms.items()}


def _ratio(phase: PhaseSeen, untouched: PhaseSeen) -> str:
    if untouched.throughput_per_s <= 0.0:
        return ""
    return f"x{phase.throughput_per_s / untouched.throughput_per_s:.2f}"
