"""A MariaDB server as a pool server: its own counters and, where clients report, their latencies."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self

from poolpilot.env.interrupts import held
from poolpilot.env.knobs import KnobSpace, checked_cpus
from poolpilot.env.server import Tunable
from poolpilot.env.tuning.identity import ServerIdentity, ServerReached
from poolpilot.errors import LostServerError, ServerError, TupleChangedError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Hindrance, Snapshot
from poolpilot.featurizer.window import IN_SYSTEM
from poolpilot.mariadb.actuator import Actuator, CallProcedure, SetGlobal
from poolpilot.mariadb.control import Control, open_control
from poolpilot.mariadb.counters import (
    Population,
    read_counters,
    read_population,
    read_tuple_values,
    read_values_and_population,
)
from poolpilot.mariadb.diagnosis.hindrances import hindrances
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.process_counters import ProcessCounters
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.server.mariadb_facts import MariadbFacts
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.variables import MAX_THREADS, PoolVariable, tuple_of
from poolpilot.mariadb.wait_events import read_wait_events, sees_wait_events

INTEGRALS = {
    "thread_us": "threads",
    "active_thread_us": "active",
    "queue_length_us": "queued",
    IN_SYSTEM: "in_system",
    "unlistened_connection_us": "unlistened",
}
"""Counter that integrates a number of the population over time."""

UNHEARD_US = "standing_connection_us"
"""Counter that integrates the connections whose group nobody has listened for from one reading of it to the next."""


class ClientReports(Protocol):
    """Clients that report what they see, such as the load generators of a test server."""

    def histograms(self) -> Mapping[str, Histogram]:
        """Cumulative latency of every class in microseconds.

        Raises:
            ServerError: A client has died.
        """


class MariadbServer:
    """A running server behind one permanent connection, on its extra port where it has one.

    Integrals of threads and queue lengths are sums over samples that `run_for` takes, since the server gives instants
    only; everything else is counted by the server.

    Args:
        account: Where it is and who asks.
        actuator: How tuples get in; `SET GLOBAL` if None.
        watch: How it is observed.
        clients: Clients that report latencies by class; None where nobody does, as in production.
        cpus: Processors of the server, where somebody has named them; else those of its process, where it runs here.

    Attributes:
        announce: Called with a tuple before it is set, so that what was there can be restored; None for nobody.

    Raises:
        SettingError: `cpus` is out of its range.
        ServerError: It cannot be reached, refuses the account, is too old, or has no pool.
    """

    _facts: MariadbFacts

    def __init__(
        self,
        account: Account,
        actuator: Actuator | None = None,
        watch: WatchSettings | None = None,
        clients: ClientReports | None = None,
        *,
        cpus: int | None = None,
    ) -> None:
        self._named_cpus = None if cpus is None else checked_cpus(cpus)
        self.account = account
        self.actuator = actuator or SetGlobal()
        self.watch = watch or WatchSettings()
        self.clients = clients
        self.announce: Callable[[PoolTuple], None] | None = None
        with ExitStack() as opened:
            self.control: Control = open_control(account)
            opened.callback(lambda: self.control.close())
            self.session = self.control.session
            self.account = replace(account, tls=account.tls.kept(self.session.tls_version))
            self._counts: ProcessCounters | None = None
            self._learn()
            self._opened = opened.pop_all()
        self.control.drop_first()
        self._tuple = tuple_of(read_tuple_values(self.session))
        self._found = {self._tuple}  # all that were ever in force
        self._ours: PoolTuple | None = None  # what was set here last, while nobody else is known to have set a tuple
        self._epoch = 0
        self._integrals = dict.fromkeys((*INTEGRALS, UNHEARD_US), 0.0)
        self.population = read_population(self.session)
        self._sampled_s = time.monotonic()
        self._disturbances: tuple[Hindrance, ...] = ()
        self._are_told = True  # by a snapshot
        self._disturbed_s: float | None = None
        self._watched_s = -math.inf

    @property
    def knobs(self) -> KnobSpace:
        """The ranges that the running server takes, and its processors in whole ones where they are known."""
        return self._facts.knobs

    @property
    def cpus(self) -> float | None:
        """Processors that it may use, a fraction maybe, as of the latest snapshot; None where they are not known."""
        return self._facts.cpus

    @property
    def threads_beside_reserve(self) -> int:
        """Threads that `thread_pool_max_threads` leaves beside those in reserve; below 0 where these are more."""
        return int(self.variables[MAX_THREADS].value) - self.watch.spare_threads

    @property
    def variables(self) -> Mapping[str, PoolVariable]:
        """The pool's variables as they were when the running server was met, the limit of threads as last seen."""
        return self._facts.variables

    @property
    def process(self) -> ServerProcess | None:
        """Its process, where it runs on this host."""
        return self._facts.process

    @property
    def identity(self) -> ServerIdentity:
        """Which server it is, and since when it runs; another one once it was restarted and reached again."""
        return self._facts.identity

    @property
    def reached(self) -> ServerReached:
        """Which server it is and the way to it, as every command says first."""
        where, asked = self.session.where, str(self.account)
        if self.account.extra_port is not None or where == asked:
            return ServerReached(self.identity, where)
        return ServerReached(self.identity, asked, where)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a DBA should know before anything is set, as sentences."""
        return (*self.control.warnings, *self._facts.warnings)

    def tuple_in_force(self) -> PoolTuple:
        """The tuple as read from the server."""
        return self._noted(read_tuple_values(self.session))

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple, capacity first, and reads back what is in force; on an error half way the old one returns.

        What was in force once may come back, whatever it asks for.

        Raises:
            SettingError: The tuple is outside the ranges, or `thread_pool_max_threads` leaves too few threads for it.
            TupleChangedError: Somebody else has set a tuple since the last reading.
            ServerError: The server did not take it.
        """
        with held():
            before = self._ours or self._tuple
            self._check_unchanged_since(before)  # which also reads how many threads there are by now
            if pool_tuple not in self._found:
                self._facts.check_threads(pool_tuple)
                self.knobs.check(pool_tuple)
            if self.announce is not None and pool_tuple != before:
                self.announce(pool_tuple)
            try:
                self.actuator.set(self.session, before, pool_tuple)
                if (read := self.tuple_in_force()) != pool_tuple:
                    raise _not_taken(read, before, pool_tuple)
            except TupleChangedError:
                self._ours = None
                raise
            except LostServerError:
                raise
            except ServerError:
                self.put_back(before)
                raise
            self._ours = read
            return read

    def put_back(self, pool_tuple: PoolTuple) -> None:
        """Brings an earlier tuple back from wherever the server is now, without the checks of `apply`: it was there.

        Raises:
            ServerError: The server did not take it.
        """
        with held():
            self._ours = None  # where this breaks off, what is in force is nobody else's
            self.actuator.set(self.session, self.tuple_in_force(), pool_tuple)
            if (read := self.tuple_in_force()) != pool_tuple:
                raise ServerError(f"the server has {read} in force after {pool_tuple} was to be brought back")
            self._ours = read

    def reopen(self) -> None:
        """Opens the connection once more after it was lost, on the extra port first where it is known.

        What holds of a server from its start to its end is read anew where it was restarted; what was in force before
        may then be more than it has threads for, and is checked as every other tuple.

        Raises:
            ServerError: The server cannot be reached.
        """
        self.control.close()
        account = replace(self.account, extra_port=self.control.extra_port or self.account.extra_port)
        try:
            self.control = open_control(account)
        except ServerError:
            if account.extra_port is None:
                raise
            self.control = Control(Session(self.account), None, (), account.extra_port)
        self.session = self.control.session
        if read_identity(self.session).restarted_since(self.identity):
            in_force = self.tuple_in_force()
            self._learn()
            self._found, self._ours = {in_force}, None
        self.control.drop_first()

    def snapshot(self) -> Snapshot:
        """What it has counted since it started.

        Raises:
            LostServerError: It is gone, or was restarted.
            TupleChangedError: Somebody else has set a tuple since one was set here; told once.
        """
        counters = read_counters(self.session)
        values, population = read_values_and_population(self.session)
        self._sample(population)
        counters |= self._beside_the_pool()
        in_force = self._noted(values)
        if self._ours is not None:
            self._refuse_change(self._ours, in_force)
        latencies = self.clients.histograms() if self.clients else {}
        self._are_told = True
        return Snapshot(
            time_s=self._sampled_s,
            tuple_epoch=self._epoch,
            pool_tuple=in_force,
            counters=counters | self._integrals,
            gauges=self._gauges(),
            histograms={f"{LATENCY_PREFIX}{name}": latency for name, latency in latencies.items()},
            server_kind="mariadb",
            disturbances=self._disturbances,
            disturbed_s=self._disturbed_s,
        )

    def run_for(self, seconds: float) -> None:
        """Waits while the server serves, with a reading of its groups now and then.

        Raises:
            LostServerError: The server is gone.
        """
        ends_s = time.monotonic() + seconds
        while (left_s := ends_s - time.monotonic()) > 0.0:
            self._watch_for_disturbances()
            time.sleep(min(left_s, self.watch.sample_every_s))
            if left_s > self.watch.sample_every_s:
                self._sample(read_population(self.session))

    def close(self) -> None:
        """Closes the connection; the tuple stays as it is. A second call does nothing."""
        self._opened.close()
        if self._counts is not None:
            self._counts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_unchanged_since(self, before: PoolTuple) -> None:
        self._refuse_change(before, self.tuple_in_force())

    def _noted(self, values: Mapping[str, Any]) -> PoolTuple:
        """The tuple of values that were just read; that it is another one is remembered, and the limit of threads."""
        read = tuple_of(values)
        self._facts = self._facts.with_most_threads(int(values[MAX_THREADS]))
        if read != self._tuple:
            self._tuple, self._epoch = read, self._epoch + 1
            self._found.add(read)
        return read

    def _refuse_change(self, before: PoolTuple, read: PoolTuple) -> None:
        if read != before:
            self._ours = None
            raise TupleChangedError(f"somebody else has set {read} where {before} was in force")

    def _sample(self, population: Population) -> None:
        """Adds a reading of the groups that was just taken to the integrals, by trapezoids."""
        now_s = time.monotonic()
        for counter, name in INTEGRALS.items():
            mean = (getattr(self.population, name) + getattr(population, name)) / 2.0
            self._integrals[counter] += mean * (now_s - self._sampled_s) * 1e6
        standing = population.unheard_since(self.population)
        self._integrals[UNHEARD_US] += standing * (now_s - self._sampled_s) * 1e6
        self.population, self._sampled_s = population, now_s

    def _watch_for_disturbances(self) -> None:
        """Notes what goes on beside the workload, where that is wanted and the last check is long ago."""
        every_s, now_s = self.watch.disturbances_every_s, time.monotonic()
        if every_s is None or now_s - self._watched_s < every_s:
            return
        self._watched_s = now_s
        if found := hindrances(self.session, self.watch.most_replica_lag_s):
            earlier = () if self._are_told else self._disturbances
            self._disturbances, self._disturbed_s = tuple(dict.fromkeys((*earlier, *found))), now_s
            self._are_told = False

    def _learn(self) -> None:
        """Reads what holds of the server for as long as it runs."""
        sees = self.watch.wait_events and sees_wait_events(self.session)
        facts = MariadbFacts.read(self.control, self.watch, self._named_cpus)
        if self._counts is not None:
            self._counts.close()
        # All at once: where reading fails, a restart is still to be noticed at the next attempt.
        self._facts, self._sees_wait_events = facts, sees
        process, most = facts.process, self.watch.scheduled_threads
        self._counts = None if process is None else ProcessCounters(process, most, self._named_cpus)

    def _beside_the_pool(self) -> dict[str, float]:
        """What the process of the server tells, where it runs here, and performance_schema, where it is read."""
        counters = {} if self._counts is None else self._counts.read()
        if self._counts is not None:
            self._facts = self._facts.with_usable(self._counts.usable)
        if self._sees_wait_events:
            counters |= read_wait_events(self.session)
        return counters

    def _gauges(self) -> dict[str, float]:
        population, cpus = self.population, self.cpus
        return {
            "connections": float(population.connections),
            **({} if cpus is None else {"cpus": cpus}),
            "threads": float(population.threads),
            "active_threads": float(population.active),
            "queue_length": float(population.queued),
        }


def _not_taken(read: PoolTuple, before: PoolTuple, wanted: PoolTuple) -> ServerError:
    """Why `read` is in force: what is neither of before nor wanted, somebody else has set in the same moment."""
    now = read.as_dict()
    if any(now[name] not in (value, wanted.as_dict()[name]) for name, value in before.as_dict().items()):
        return TupleChangedError(f"somebody else has set {read} while {wanted} was set")
    return ServerError(f"the server has {read} in force after {wanted} was set")


def knobs_to_try(server: Tunable) -> KnobSpace:
    """The ranges that a climb or a search may try: those of a server, as far as who sets them there takes them."""
    if isinstance(server, MariadbServer) and isinstance(server.actuator, CallProcedure):
        return server.actuator.narrowed(server.knobs, server.tuple_in_force())
    return server.knobs
