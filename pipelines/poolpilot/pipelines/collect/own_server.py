"""A MariaDB of the user's own in staging: sweeps of it, under the load that its clients send, as training workloads."""

import secrets
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.knobs import UNKNOWN_CPUS
from poolpilot.env.measurement.protocol import MARIADB_RACING, Measured, observe, sweep
from poolpilot.env.output import introduce
from poolpilot.env.tuning.restoration import restoring
from poolpilot.env.tuning.server_sweep import dry_run, grid_tuples, longest_sweep_s
from poolpilot.env.tuning.target import Target
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.mariadb_target import mariadb_target
from poolpilot.pipelines.collect.collect_report import progress_bar
from poolpilot.pipelines.collect.workload_record import keep_sweep, shared_context, workload_row
from poolpilot.pipelines.store.records import StagingStore

CLIENTS = "what its own clients send"
"""Stands where a workload that is drawn names its scripts."""

LOOK_S = 1.0
"""Seconds for which the load is observed before anything is set."""

LEAST_PER_S = 10.0
"""Statements a second below which a window of a sweep holds too few to tell one configuration from another."""


@dataclass(frozen=True, slots=True)
class OwnLoad:
    """What the clients of a server of one's own send, of which nothing is known but where it goes.

    Attributes:
        name: Unique name.
        family: The server: whatever its clients send is of one family.
        seed: Seed of the load; it has none.
    """

    name: str
    family: str
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Its definition, fit for JSON."""
        classes = [{"name": "all", "script": CLIENTS}]
        return {"name": self.name, "family": self.family, "seed": self.seed, "classes": classes}


@dataclass(frozen=True, slots=True)
class OwnServer:
    """Which server is swept, and where its records go.

    Attributes:
        dsn: Where it is.
        defaults_file: The one option file to read; that of the DSN, else those that `mariadb` reads, if None.
        procedure: Procedure that sets a configuration; `SET GLOBAL` if None.
        cpus: Its processors; those of its process, where it runs here, if None.
        store: Folder of the record store.
    """

    dsn: str
    defaults_file: Path | None
    procedure: str | None
    cpus: int | None
    store: Path

    def would(self) -> str:
        """What a sweep would do, as a sentence; nothing is set.

        Raises:
            SettingError: The DSN or the defaults file is wrong, or the processors are not known.
            ServerError: The server cannot be reached, or cannot be tuned.
        """
        with self._opened() as target:
            return dry_run(_tuples(target), MARIADB_RACING)

    def swept(self) -> int:
        """Sweeps that the store holds."""
        return len(StagingStore(self.store).workload_rows())

    def sweep_for(self, seconds: float, done: int, seed: int, console: Console) -> int:
        """Sweeps it as often as the seconds are sure to be enough for; its first configuration returns.

        A sweep is in the store whole or not at all.

        Args:
            seconds: Time for all sweeps, those that are done among them.
            done: Sweeps that are done.
            seed: Seed of the order.
            console: Where progress is shown, and what is in force at the end.

        Returns:
            Sweeps that were measured now.

        Raises:
            KeyboardInterrupt: The user ended it.
            SettingError: An option is wrong, the processors are not known, or there is no time for a sweep.
            ServerError: It cannot be reached, refuses, is gone, or nobody sends it anything; or its first configuration
                could not be brought back, and the text says what is in force.
            JournalError: What is about to be set cannot be noted.
            StoreError: The store cannot be read or written.
        """
        with self._opened() as target:
            introduce(target.reached, target.warnings, console)
            tuples = _tuples(target)
            wanted = _sweeps_within(seconds, tuples)
            if wanted <= done:
                return 0
            _check_load(target)
            with restoring(target.restoration, "learn", console):
                for number in range(done, wanted):
                    self._keep(target, _measured(target, tuples, seed + number, console))
        return wanted - done

    def _opened(self) -> AbstractContextManager[Target]:
        return mariadb_target(self.dsn, self.defaults_file, self.procedure, self.cpus)

    def _keep(self, target: Target, swept: list[Measured]) -> None:
        """Writes a sweep as a collection would have, with the objective of a server whose clients report nothing."""
        when = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        limits, objective = target.server.knobs, target.objective
        planned = PlannedWorkload("train", OwnLoad(f"{target.name} {when}", target.name))
        row = {**workload_row(planned, limits, objective, LARGE_GRID), "objective": objective.model_dump_json()}
        context = shared_context(planned, f"{target.name}, {limits.cpus} CPUs", "mariadb", f"own-{when}")
        keep_sweep(StagingStore(self.store), row, context, objective, swept)


def _tuples(target: Target) -> list[PoolTuple]:
    """What is swept.

    Raises:
        SettingError: The processors of the server are not known, without which nothing can be learned from it.
    """
    if target.server.knobs.processors is None:
        raise SettingError(UNKNOWN_CPUS)
    return grid_tuples(target.server, target.server.tuple_in_force(), LARGE_GRID)


def _sweeps_within(seconds: float, tuples: list[PoolTuple]) -> int:
    longest_s = longest_sweep_s(tuples, MARIADB_RACING)
    if seconds < longest_s:
        raise SettingError(
            f"a sweep of {len(tuples)} configurations takes up to {longest_s:.0f} s, and this round has {seconds:.0f}: "
            "learn for more --minutes, or from fewer servers (--set servers=NAME)"
        )
    return int(seconds // longest_s)


def _check_load(target: Target) -> None:
    per_s = observe(target.server, LOOK_S).window.throughput_per_s
    if per_s < LEAST_PER_S:
        raise ServerError(
            f"the clients of {target.name} send {per_s:.1f} statements a second, and a sweep needs {LEAST_PER_S:g} at "
            "least: nothing was set; let them send what they send in production"
        )


def _measured(target: Target, tuples: list[PoolTuple], seed: int, console: Console) -> list[Measured]:
    with progress_bar(console) as progress:
        task = progress.add_task(f"sweeping {target.name}", total=MARIADB_RACING.most_windows(len(tuples)))

        def shown(_: Measured) -> None:
            progress.update(task, advance=1, refresh=True)

        rng = np.random.default_rng(seed)
        return sweep(target.server, tuples, target.objective, MARIADB_RACING, rng, on_measured=shown)
