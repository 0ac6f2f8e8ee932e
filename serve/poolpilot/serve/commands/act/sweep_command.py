"""`poolpilot climb --sweep`: races the configurations of the grid on a MariaDB server in staging."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.live import Live
from rich.table import Table

from poolpilot.env.measurement.protocol import MARIADB_RACING, Measured, MeasurementSettings
from poolpilot.env.measurement.protocol import sweep as race
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import LEAST_ROWS_SHARE
from poolpilot.env.output import introduce, terminal, write_json
from poolpilot.env.tuning.restoration import restoring
from poolpilot.env.tuning.server_sweep import dry_run, grid_tuples
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.mariadb_target import mariadb_target
from poolpilot.models.advice.reasons import percent
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.serve.commands.options.mariadb_options import Cpus, MinRowsShare, StagingOptions
from poolpilot.serve.commands.presentation.setting_lines import SettingLines

SHOWN = 12


class SweepSettings(StagingOptions):
    """Settings of `poolpilot climb --sweep`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SWEEP_")

    cpus: Cpus = None
    min_rows_share: MinRowsShare = LEAST_ROWS_SHARE
    window: float = Field(default=MARIADB_RACING.window_s, ge=0.2, description="Seconds of a window.")
    repeats: int = Field(default=3, ge=1, description="Windows that the best configuration is measured again.")
    seed: int = Field(default=0, ge=0, description="Seed of the order.")

    def opened(self) -> AbstractContextManager[Target]:
        """The server for the duration of a block; see `mariadb_target`."""
        return mariadb_target(self.dsn, self.defaults_file, self.procedure, self.cpus, None, self.min_rows_share)

    @property
    def racing(self) -> MeasurementSettings:
        """How the configurations are measured."""
        return MARIADB_RACING.model_copy(update={"window_s": self.window, "oracle_repeats": self.repeats})


def sweep(settings: SweepSettings, json_path: Path | None) -> None:
    """Sweeps a server and shows the best configurations; without leave it only says what it would do.

    Raises:
        SettingError: The DSN, the defaults file or the file to write is wrong.
        ServerError: The server cannot be reached, or is gone.
    """
    console = terminal()
    with settings.opened() as target:
        introduce(target.reached, target.warnings, console)
        if not settings.execute:
            would = grid_tuples(target.server, target.server.tuple_in_force())
            console.print(dry_run(would, settings.racing), soft_wrap=True)
            return
        with restoring(target.restoration, "sweep", console) as first:
            measured: list[Measured] = []
            finished = False
            try:
                raced(target, first, settings, console, measured)
                finished = True
            finally:
                if any(one.core == first.core for one in measured):
                    swept = built(target, measured, first)
                    report(swept, first, console, json_path, finished=finished, origin=target.origin)


def raced(
    target: Target, first: PoolTuple, settings: SweepSettings, console: Console, measured: list[Measured]
) -> None:
    """Races the grid; every window is put to the others as it comes, so that an end before its time loses none."""
    tuples, rng = grid_tuples(target.server, first), np.random.default_rng(settings.seed)
    with _shown(console, len(tuples), measured) as shown:
        race(
            target.server,
            tuples,
            target.objective,
            settings.racing,
            rng,
            on_measured=shown.append,
            reference=first,
        )


def report(
    swept: WorkloadSweep,
    first: PoolTuple,
    console: Console,
    json_path: Path | None,
    *,
    finished: bool,
    origin: Mapping[str, Any],
) -> None:
    """Writes and prints what was measured; what sets the best one only where the sweep came to its end.

    Raises:
        SettingError: The file cannot be written.
    """
    lines = SettingLines.between(first, better_tuple(swept, first)) if finished else SettingLines()
    try:
        write_json(json_path, {**origin, **as_dict(swept, first), "finished": finished, **lines.as_dict()})
    finally:
        console.print(result_table(swept, first))
        lines.print(console)


def built(target: Target, results: Sequence[Measured], first: PoolTuple) -> WorkloadSweep:
    """The sweep of a server's own workload; floors are shares of what the initial tuple had."""
    return WorkloadSweep.build(
        [(one.round, one.window) for one in results],
        workload_id=target.name,
        family="live",
        split="train",
        limits=target.server.knobs,
        objective=target.objective,
        reference=first,
    )


def better_tuple(swept: WorkloadSweep, first: PoolTuple) -> PoolTuple:
    """The best tuple, the knobs beside the core as they were; the first one where what it promises is within noise."""
    again = swept.oracle_again
    surely = again is not None and again - swept.value(first) > swept.noise
    return first.with_core(swept.oracle_tuple.core) if surely else first


def result_table(swept: WorkloadSweep, first: PoolTuple) -> Table:
    """The best tuples as people read them."""
    table = Table(
        "configuration", "ms in system", "against the first", "windows", title=f"Sweep of {swept.workload_id}"
    )
    table.caption = f"noise of a window {100 * swept.noise:.1f} %; {first} is in force again"
    for row in as_dict(swept, first)["configurations"][:SHOWN]:
        shown = "-" if row["time_in_system_s"] is None else f"{1e3 * row['time_in_system_s']:.2f}"
        table.add_row(str(PoolTuple(*row["configuration"])), shown, percent(row["gain"]), str(row["windows"]))
    return table


def as_dict(swept: WorkloadSweep, first: PoolTuple) -> dict[str, Any]:
    """The sweep fit for JSON, the best tuple first."""
    reference = swept.value(first)
    rows = [
        {
            "configuration": list(core),
            "gain": entry.value - reference,
            "time_in_system_s": _mean_time(entry.windows),
            "windows": len(entry.windows),
        }
        for core, entry in swept.entries.items()
    ]
    before, after = swept.entries[first.core].windows[0], swept.entries[swept.oracle_tuple.core].windows[-1]
    return {
        REQUEST: outcome_body(before, after, swept.limits, swept.objective),
        "server": swept.workload_id,
        "first": list(first.core),
        "best": list(swept.oracle_tuple.core),
        "best_again": swept.oracle_again,
        "noise": swept.noise,
        "configurations": sorted(rows, key=lambda row: -float(row["gain"])),
    }


def _mean_time(windows: Sequence[Any]) -> float | None:
    times = [window.time_in_system_s for window in windows if window.time_in_system_s is not None]
    return float(np.mean(times)) if times else None


class _Shown:
    """Takes windows; each new one redraws the table of the latest."""

    def __init__(self, live: Live, tuples: int, measured: list[Measured]) -> None:
        self._live = live
        self._tuples = tuples
        self._measured = measured

    def append(self, one: Measured) -> None:
        self._measured.append(one)
        table = Table(
            *("configuration", "round", "statements/s", "ms in system"),
            title=f"{len(self._measured)} windows, {self._tuples} configurations",
        )
        for each in self._measured[-SHOWN:]:
            time_s = each.window.time_in_system_s
            shown = "-" if time_s is None else f"{1e3 * time_s:.2f}"
            table.add_row(str(each.window.pool_tuple), str(each.round), f"{each.window.throughput_per_s:.0f}", shown)
        self._live.update(table, refresh=True)


@contextmanager
def _shown(console: Console, tuples: int, measured: list[Measured]) -> Iterator[_Shown]:
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Shown(live, tuples, measured)
