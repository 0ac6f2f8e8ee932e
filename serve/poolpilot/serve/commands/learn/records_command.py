"""`poolpilot records`: whether records may be learned from."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

if TYPE_CHECKING:
    from poolpilot.pipelines.store.fault import Fault
    from poolpilot.pipelines.store.record_check import RecordCheck
    from poolpilot.pipelines.store.store_contents import StoreContents

SHOWN_OF_A_KIND = 10
"""Faults of one kind that the table shows; the JSON file has all."""


class RecordsCheckSettings(ProgramSettings):
    """Settings of `poolpilot records --check`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_RECORDS_CHECK_")

    folders: tuple[Path, ...] = Field(
        min_length=1,
        description="Folders of record stores; several are checked against one another too.",
    )


def check(settings: RecordsCheckSettings, json_path: Path | None) -> None:
    """Shows what is in the stores and what is wrong; the exit code is 3 where training would refuse them."""
    from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck

    found = RecordCheck.of([CheckedStore(folder) for folder in dict.fromkeys(settings.folders)])
    console = terminal()
    console.print(stores_table(found))
    if found.faults:
        console.print(faults_table(found))
    refused = sum(fault.refused for fault in found.faults)
    console.print(f"{refused} faults for which training refuses, {len(found.faults) - refused} things to know.")
    write_json(json_path, check_summary(found))
    if refused:
        raise typer.Exit(REFUSED)


def stores_table(found: "RecordCheck") -> Table:
    """What was read of each store."""
    table = Table("store", "workloads", "families", "windows", "timer", title="Records", title_justify="left")
    for contents in found.stores:
        row = _store(contents)
        table.add_row(*(", ".join(cell) if isinstance(cell, list) else str(cell) for cell in row.values()))
    return table


def faults_table(found: "RecordCheck") -> Table:
    """What is wrong, those that are refused first, some of each kind."""
    table = Table("fault", "refused", "what and where", title="Faults", title_justify="left", show_lines=True)
    seen: Counter[tuple[str, bool]] = Counter()
    for fault in sorted(found.faults, key=lambda one: not one.refused):
        seen[fault.kind, fault.refused] += 1
        if seen[fault.kind, fault.refused] <= SHOWN_OF_A_KIND:
            table.add_row(fault.kind, _yes(fault), fault.sentence)
    for (kind, refused), number in seen.items():
        if number > SHOWN_OF_A_KIND:
            table.add_row(kind, "yes" if refused else "no", f"and {number - SHOWN_OF_A_KIND} more; --json has them all")
    return table


def check_summary(found: "RecordCheck") -> dict[str, Any]:
    """The same for a program."""
    return {
        "stores": [_store(contents) for contents in found.stores],
        "refused": sum(fault.refused for fault in found.faults),
        "faults": [fault.as_dict() for fault in found.faults],
    }


def _store(contents: "StoreContents") -> dict[str, Any]:
    rows = [row for _, row in contents.definitions]
    return {
        "store": str(contents.directory),
        "workloads": len({row["workload_id"] for row in rows}),
        "families": len({row["family"] for row in rows}),
        "windows": sum(table.num_rows for table in contents.windows.values()),
        "timers": sorted({timer for table in contents.windows.values() for timer in table["timer"].to_pylist()}),
    }


def _yes(fault: "Fault") -> str:
    return "yes" if fault.refused else "no"
