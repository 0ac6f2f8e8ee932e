"""What a server may do, as it is set at the second: its pool, its connections, how long statements wait for locks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from poolpilot.errors import LostServerError, ServerError
from poolpilot.mariadb.session import Session

LIMITS_QUERY = (
    "SELECT @@GLOBAL.thread_pool_size, @@GLOBAL.thread_pool_oversubscribe, @@GLOBAL.thread_pool_stall_limit, "
    "@@GLOBAL.thread_pool_max_threads, @@GLOBAL.innodb_lock_wait_timeout, @@GLOBAL.lock_wait_timeout, "
    "@@GLOBAL.max_connections, @@GLOBAL.max_user_connections, @@GLOBAL.port"
)

USERS_QUERY = "SELECT User, MIN(max_user_connections) FROM mysql.user WHERE max_user_connections > 0 GROUP BY User"


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
        of_users: MAX_USER_CONNECTIONS of users that have one of their own; empty where this account may not see them.
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
    of_users: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    def most_connections_of(self, user: str) -> int:
        """Connections that a user may have; 0 for no limit."""
        return self.of_users.get(user, self.most_of_a_user)

    @property
    def stall_limit_s(self) -> float:
        """How long the pool's timer lets a statement hold a group before it gives the group another thread."""
        return self.stall_limit_ms / 1000.0


def read_limits(session: Session) -> PoolLimits:
    """Reads them; every account may.

    Raises:
        LostServerError: The server is gone.
    """
    limits = PoolLimits(*map(int, session.row(LIMITS_QUERY)))
    try:
        return replace(limits, of_users={str(user): int(most) for user, most in session.rows(USERS_QUERY)})
    except LostServerError:
        raise
    except ServerError:  # who may not read mysql.user sees the limit of all users alone
        return limits
