"""The load on a server: one sysbench a class, each with its ledger, all ended together."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.histogram import BUCKETS, Histogram
from poolpilot.lab.datasets import Dataset
from poolpilot.lab.host.programs import program
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload

RESTARTED, GIVEN_UP, TOTAL, SQUARES, HEAD_WORDS = 0, 1, 2, 3, 4
"""First words of a slot, as `lua/client.lua` writes them; the sums are in microseconds."""


class Ledger:
    """One slot of doubles a thread, each written by that thread alone; an aligned double is never torn.

    Args:
        path: File to make.
        threads: Threads of the load.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self.path = path
        self._slots: NDArray[np.float64] = np.memmap(
            path, dtype=np.float64, mode="w+", shape=(threads, HEAD_WORDS + BUCKETS)
        )

    def histogram(self) -> Histogram:
        """Latencies of all threads so far, in microseconds."""
        words = self._slots.sum(axis=0)
        return Histogram(words[HEAD_WORDS:].astype(np.int64), float(words[TOTAL]), float(words[SQUARES]))

    @property
    def restarts(self) -> int:
        """Requests that were tried again: deadlocks and lock waits that timed out."""
        return int(self._slots[:, RESTARTED].sum())

    @property
    def given_up(self) -> int:
        """Requests of an offered rate that could not be sent in time."""
        return int(self._slots[:, GIVEN_UP].sum())


SCRIPTS = Path(__file__).with_name("lua")
STOCK_PREFIX = "oltp_"
STOP_WITHIN_S = 5.0

TRIED_AGAIN = (1213, 1020, 1205, 1412)
"""Errors after which a request is tried again: those of sysbench itself (a deadlock, a changed row, a lock that was
waited for too long), and that a table has been altered since the transaction began."""


@dataclass(frozen=True, slots=True)
class Sender:
    """A running sysbench.

    Attributes:
        of_class: The class it sends.
        process: The process.
        ledger: What its threads have seen.
        log: What it prints.
    """

    of_class: SqlClass
    process: "subprocess.Popen[bytes]"
    ledger: Ledger
    log: Path

    def check(self) -> None:
        """Names what ended it.

        Raises:
            ServerError: It has ended.
        """
        code = self.process.poll()
        if code is not None:
            fatal = [line for line in self.log.read_text(errors="replace").splitlines() if "FATAL" in line]
            # That it cannot connect is one line, and why the next one.
            reason = " ".join(line.strip() for line in fatal[:2]) or f"it ended with code {code}"
            raise ServerError(f"sysbench of class {self.of_class.name!r} has stopped in mid-run: {reason}")


class SqlLoad:
    """The load of a workload; its processes end with `stop`, or with this process, however that ends.

    Args:
        workload: What is sent.
        load_file: File that tells sysbench where the server is and who asks; a command line would show the password.
        dataset: Data that it holds.
        cpus: Processor numbers the load is pinned to; not pinned if None.

    Raises:
        ServerError: sysbench is missing.
        SettingError: A class offers a share of a capacity that was not measured.
    """

    def __init__(
        self, workload: SqlWorkload, load_file: Path, dataset: Dataset, cpus: Sequence[int] | None = None
    ) -> None:
        unmeasured = [one.name for one in workload.classes if one.capacity_share]
        if unmeasured:
            raise SettingError(
                f"class {unmeasured[0]} of {workload.name} offers a share of a capacity that was not measured; state "
                "rate_per_s, or let poolpilot.lab.capacity.at_capacity measure it"
            )
        self.workload = workload
        with ExitStack() as opened:
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="poolpilot-load-")))
            self.senders: list[Sender] = []
            opened.callback(self._end)
            for number, sql_class in enumerate(workload.classes):
                seed, base = 1 + workload.seed + number, folder / f"{number}"
                self.senders.append(_start(sql_class, seed, load_file, dataset, _wrapped(cpus), base))
            self._opened = opened.pop_all()

    def histograms(self) -> Mapping[str, Histogram]:
        """Cumulative latency of every class in microseconds, from the moment a request was due.

        Raises:
            ServerError: A sysbench has ended.
        """
        for sender in self.senders:
            sender.check()
        return {sender.of_class.name: sender.ledger.histogram() for sender in self.senders}

    def stop(self) -> None:
        """Ends every sysbench; a second call does nothing."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _end(self) -> None:
        for sender in self.senders:
            sender.process.terminate()
        for sender in self.senders:
            try:
                sender.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                sender.process.kill()
                sender.process.wait()


def _start(sql_class: SqlClass, seed: int, load_file: Path, dataset: Dataset, prefix: list[str], base: Path) -> Sender:
    """Starts the sysbench of a class; its files are called as `base`, with endings of their own."""
    ledger = Ledger(base.with_suffix(".ledger"), sql_class.connections)
    log = base.with_suffix(".log")
    stock = sql_class.script.startswith(STOCK_PREFIX)
    command = [
        *prefix,
        program("sysbench"),
        f"--config-file={load_file}",
        "stock.lua" if stock else f"{sql_class.script}.lua",
        *(f"--{name}={value}" for name, value in _options(sql_class, seed, dataset, ledger).items()),
        "run",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=SCRIPTS,
            env={**os.environ, "POOLPILOT_SCRIPT": sql_class.script, "POOLPILOT_SOCKET": str(socket_in(load_file))},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Sender(sql_class, process, ledger, log)


def socket_in(load_file: Path) -> Path:
    """The server's socket, as the file of the load names it; its password stays there."""
    lines = dict(line.split("=", 1) for line in load_file.read_text().splitlines())
    return Path(lines["mysql-socket"])


def _options(sql_class: SqlClass, seed: int, dataset: Dataset, ledger: Ledger) -> dict[str, object]:
    return {
        "threads": sql_class.connections,
        "time": 0,
        "events": 0,
        "rand-seed": seed,
        "mysql-ignore-errors": ",".join(map(str, TRIED_AGAIN)),
        "ledger": ledger.path,
        "think_ms": sql_class.think_ms,
        "rate_per_s": sql_class.rate_per_s,
        "burst_period_s": sql_class.burst_period_s,
        "burst_share": sql_class.burst_share,
        "burst_offset": sql_class.burst_offset,
        **dataset.options_for(sql_class.script),
        **sql_class.options,
    }


def _wrapped(cpus: Sequence[int] | None) -> list[str]:
    """A prefix that ends the program with its parent, and pins it."""
    setpriv = shutil.which("setpriv")
    pinned = ["taskset", "--cpu-list", ",".join(map(str, cpus))] if cpus else []
    return [*([setpriv, "--pdeathsig", "KILL"] if setpriv else []), *pinned]
