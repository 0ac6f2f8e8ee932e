"""What holds of a MariaDB server from its start to its end, and after a restart may be something else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.control import Control
from poolpilot.mariadb.host.cpu_quota import UsableCpus, whole_cpus
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.quota_periods import cpus_in_words
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.mariadb.variables import MAX_THREADS, PoolVariable, knob_space, read_variables

UNSEEN_QUOTA = "a quota there is not seen, so name the processors where the server has fewer than this host: --cpus N"
"""Follows on what cannot be read."""


@dataclass(frozen=True)
class MariadbFacts:
    """The facts of one run of a server.

    Attributes:
        identity: Which server it is, and since when it runs.
        variables: The pool's variables by lower-case name, as they were when this was read; see `with_most_threads`.
        process: Its process, where it runs on this host.
        knobs: The ranges that it takes, and its processors in whole ones where they are known.
        spare_threads: See `WatchSettings`.
        named_cpus: Processors that somebody has named.
        usable: What its process may use, where it runs on this host; this alone may change while it runs.
    """

    identity: ServerIdentity
    variables: Mapping[str, PoolVariable]
    process: ServerProcess | None
    knobs: KnobSpace
    spare_threads: int
    named_cpus: int | None
    usable: UsableCpus | None

    @classmethod
    def read(cls, control: Control, watch: WatchSettings, named_cpus: int | None) -> Self:
        """Asks the server.

        Args:
            control: The connection to it.
            watch: How it is observed.
            named_cpus: Processors that somebody has named; those of its process count if None.

        Raises:
            ServerError: It cannot be tuned, or is gone.
        """
        variables = read_variables(control.session)
        process = ServerProcess.of(control.first) if control.first else None
        process = process or ServerProcess.of(control.session)
        usable = process.cpus() if process else None
        knobs = knob_space(variables, _whole(_cpus(named_cpus, usable)), watch.spare_threads)
        identity = read_identity(control.session)
        return cls(identity, variables, process, knobs, watch.spare_threads, named_cpus, usable)

    @property
    def cpus(self) -> float | None:
        """Processors that it may use, a fraction maybe: those named, else those of its process; None if not known."""
        return _cpus(self.named_cpus, self.usable)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of its processors, as sentences: they are not known, or told in two ways, or not for sure."""
        named, usable = self.named_cpus, self.usable
        faults = () if usable is None or named is not None else usable.quota.faults
        unseen = tuple(f"{fault}: {UNSEEN_QUOTA}" for fault in faults)
        if self.cpus is None:
            return (UNKNOWN_CPUS,)
        if named is not None and usable is not None and named != usable.cpus:
            may_use = cpus_in_words(usable.cpus)
            return (f"--cpus {named} is taken, but the process of the server, which runs here, may use {may_use}",)
        return unseen

    def with_usable(self, usable: UsableCpus | None) -> Self:
        """The same once a quota or an affinity may have changed, which a server bears while it runs.

        Args:
            usable: What its process may use now; None where that cannot be read, and nothing is known to have changed.
        """
        if usable is None or (self.usable is not None and usable.cpus == self.usable.cpus):
            return self
        knobs = knob_space(self.variables, _whole(_cpus(self.named_cpus, usable)), self.spare_threads)
        return replace(self, usable=usable, knobs=knobs)

    def with_most_threads(self, most: int) -> Self:
        """The same once somebody has set `thread_pool_max_threads`, which a server takes while it runs.

        Args:
            most: What it is now.
        """
        limit = self.variables[MAX_THREADS]
        if int(limit.value) == most:
            return self
        variables = {**self.variables, MAX_THREADS: replace(limit, value=str(most))}
        knobs = knob_space(variables, self.knobs.processors, self.spare_threads)
        return replace(self, variables=variables, knobs=knobs)

    def check_threads(self, pool_tuple: PoolTuple) -> None:
        """Refuses a tuple that may ask for more threads than there are.

        Raises:
            SettingError: It may; the text says what would help.
        """
        most = int(self.variables[MAX_THREADS].value)
        wanted = pool_tuple.active_threads + self.spare_threads
        if wanted > most:
            raise SettingError(
                f"{pool_tuple} may ask for {wanted} threads, those in reserve included, but thread_pool_max_threads "
                f"is {most}: choose a smaller configuration, or raise it in my.cnf"
            )


def _cpus(named: int | None, usable: UsableCpus | None) -> float | None:
    if named is not None:
        return float(named)
    return None if usable is None else usable.cpus


def _whole(cpus: float | None) -> int | None:
    return None if cpus is None else whole_cpus(cpus)
