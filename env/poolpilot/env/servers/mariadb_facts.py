"""What holds of a MariaDB server from its start to its end, and after a restart may be something else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.mariadb.control import Control
from poolpilot.env.mariadb.host.process import ServerProcess
from poolpilot.env.mariadb.identity import ServerIdentity
from poolpilot.env.mariadb.variables import MAX_THREADS, PoolVariable, knob_space, read_variables
from poolpilot.env.servers.watch_settings import WatchSettings
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple


@dataclass(frozen=True)
class MariadbFacts:
    """The facts of one run of a server.

    Attributes:
        identity: Which server it is, and since when it runs.
        variables: The pool's variables by lower-case name, as they were when this was read; see `with_most_threads`.
        process: Its process, where it runs on this host.
        knobs: The ranges that it takes, and its processors where they are known.
        spare_threads: See `WatchSettings`.
        warnings: What to know of its processors, as sentences.
    """

    identity: ServerIdentity
    variables: Mapping[str, PoolVariable]
    process: ServerProcess | None
    knobs: KnobSpace
    spare_threads: int
    warnings: tuple[str, ...]

    @classmethod
    def read(cls, control: Control, watch: WatchSettings, named_cpus: int | None) -> Self:
        """Asks the server.

        Args:
            control: The connection to it.
            watch: How it is looked at.
            named_cpus: Processors that somebody has named; those of its process count if None.

        Raises:
            ServerError: It cannot be tuned, or is gone.
        """
        variables = read_variables(control.session)
        process = ServerProcess.of(control.first) if control.first else None
        process = process or ServerProcess.of(control.session)
        seen_cpus = process.cpus() if process else None
        return cls(
            ServerIdentity.read(control.session),
            variables,
            process,
            knob_space(variables, named_cpus or seen_cpus, watch.spare_threads),
            watch.spare_threads,
            _cpus_warnings(named_cpus, seen_cpus),
        )

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
                f"is {most}: choose a smaller tuple, or raise it in my.cnf"
            )


def _cpus_warnings(named: int | None, seen: int | None) -> tuple[str, ...]:
    """What to know of processors that nobody can tell, or that are told in two ways."""
    if named is None and seen is None:
        return (UNKNOWN_CPUS,)
    if named is not None and seen is not None and named != seen:
        return (f"--cpus {named} is taken, but the process of the server, which runs here, may use {seen}",)
    return ()
