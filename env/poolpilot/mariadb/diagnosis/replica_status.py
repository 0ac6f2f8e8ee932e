"""How far a replica is behind the server that it copies."""

from dataclasses import dataclass

from poolpilot.errors import LostServerError, ServerError
from poolpilot.mariadb.session import Session

REPLICA_PRIVILEGE = "REPLICA MONITOR"
RUNNING_QUERY = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'SLAVES_RUNNING'"
"""How many replication connections apply what they receive; every account sees that, and nobody needs to ask further
where it is none."""

STATUS_STATEMENT = "SHOW ALL SLAVES STATUS"
"""Understood by every release; REPLICA for SLAVE came with 10.5.1 and means the same."""


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """One replication connection.

    Attributes:
        name: Its name; empty for the default one.
        lag_s: Seconds behind the primary; None while the server cannot tell, as when it is not connected.
    """

    name: str
    lag_s: float | None

    def __str__(self) -> str:
        """Which one it is, for messages."""
        return f"the replication connection {self.name!r}" if self.name else "replication"


def read_replicas(session: Session) -> tuple[ReplicaStatus, ...] | None:
    """Reads the replication connections; None where the account may not see them.

    Raises:
        LostServerError: The server is gone.
    """
    try:
        rows = session.named_rows(STATUS_STATEMENT)
    except LostServerError:
        raise
    except ServerError:
        return None
    return tuple(
        ReplicaStatus(str(row.get("Connection_name") or ""), None if lag is None else float(lag))
        for row in rows
        for lag in (row.get("Seconds_Behind_Master"),)
    )
