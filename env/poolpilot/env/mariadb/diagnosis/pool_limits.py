"""What a server may do, as it is set at the second: its pool, its connections, how long statements wait for locks."""

from dataclasses import dataclass

from poolpilot.env.mariadb.session import Session

LIMITS_QUERY = (
    "SELECT @@GLOBAL.thread_pool_size, @@GLOBAL.thread_pool_oversubscribe, @@GLOBAL.thread_pool_stall_limit, "
    "@@GLOBAL.thread_pool_max_threads, @@GLOBAL.innodb_lock_wait_timeout, @@GLOBAL.lock_wait_timeout, "
    "@@GLOBAL.max_connections, @@GLOBAL.max_user_connections, @@GLOBAL.port"
)


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """The variables that bound what a pool serves.

    Attributes:
        size: thread_pool_size.
        oversubscribe: thread_pool_oversubscribe.
        stall_limit_ms: thread_pool_stall_limit.
        most_threads: thread_pool_max_threads.
        row_wait_s: innodb_lock_wait_timeout.
        definition_wait_s: lock_wait_timeout.
        most_connections: max_connections.
        most_of_a_user: max_user_connections; 0 for no limit.
        port: The normal port; 0 for none.
    """

    size: int
    oversubscribe: int
    stall_limit_ms: int
    most_threads: int
    row_wait_s: int = 50
    definition_wait_s: int = 86_400
    most_connections: int = 151
    most_of_a_user: int = 0
    port: int = 3306

    @property
    def stall_limit_s(self) -> float:
        """How long the pool's timer lets a statement hold a group before it gives the group another thread."""
        return self.stall_limit_ms / 1000.0


def read_limits(session: Session) -> PoolLimits:
    """Reads them; every account may.

    Raises:
        LostServerError: The server is gone.
    """
    return PoolLimits(*map(int, session.row(LIMITS_QUERY)))
