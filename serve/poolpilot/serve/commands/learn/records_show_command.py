"""`poolpilot records`: what is in records, family by family."""

import datetime
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Column, Table

from poolpilot.env.output import terminal, warn, write_json
from poolpilot.env.program_settings import ProgramSettings

if TYPE_CHECKING:
    from poolpilot.pipelines.store.inspection.record_summary import FamilySummary, StoreSummary

COLUMNS = ("family", "split", "cpus", "swept", "grid", "windows", "again", "error")


class RecordsShowSettings(ProgramSettings):
    """Settings of `poolpilot records`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_RECORDS_SHOW_")

    folders: tuple[Path, ...] = Field(min_length=1, description="Folders of record stores.")


def show(settings: RecordsShowSettings, json_path: Path | None) -> None:
    """Shows what is in the stores.

    Raises:
        SettingError: The file to write is wrong.
        StoreError: A store holds nothing, or cannot be read.
    """
    from poolpilot.pipelines.store.inspection.record_summary import StoreSummary

    console = terminal()
    found = [StoreSummary.of(folder) for folder in dict.fromkeys(settings.folders)]
    for store in found:
        console.print(summary_table(store))
        console.print(origin(store), soft_wrap=True)
        left_out = f"{store.unread} damaged segments are left out: poolpilot records --check {store.directory}"
        warn([left_out] if store.unread else [], console)
    write_json(json_path, {"stores": [as_dict(store) for store in found]})


def summary_table(store: "StoreSummary") -> Table:
    """The families of a store, a row each."""
    table = Table(
        *(Column(name, overflow="fold") for name in COLUMNS),
        title=f"Records in {store.directory}",
        title_justify="left",
    )
    for one in store.families:
        table.add_row(*_cells(one))
    return table


def origin(store: "StoreSummary") -> str:
    """Where the records come from, as a sentence."""
    kinds = ", ".join(f"{windows} {kind}" for kind, windows in store.kinds.items()) or "none"
    said = [f"Windows: {kinds}"]
    if store.first_unix_s is not None and store.last_unix_s is not None:
        days = (store.last_unix_s - store.first_unix_s) / datetime.timedelta(days=1).total_seconds()
        said.append(f"measured from {_day(store.first_unix_s)} to {_day(store.last_unix_s)} ({days:.1f} days)")
        runs = "one run" if store.runs == 1 else f"{store.runs} runs"
        where = f"the server {', '.join(store.servers)} of the machine {'; '.join(store.machines)}"
        said.append(f"in {runs} on {where} under the timer {', '.join(store.timers)}")
    return f"{', '.join(said)}."


def as_dict(store: "StoreSummary") -> dict[str, Any]:
    """What is in a store, fit for JSON."""
    return {**asdict(store), "directory": str(store.directory)}


def _cells(one: "FamilySummary") -> tuple[str, ...]:
    return (
        one.family,
        one.split,
        ", ".join(map(str, one.cpus)),
        f"{one.complete}/{one.workloads}",
        f"{one.coverage:.0%}",
        str(one.windows),
        _percent(one.default_noise),
        _percent(one.error),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def _day(unix_s: float) -> str:
    return datetime.datetime.fromtimestamp(unix_s, datetime.UTC).date().isoformat()
