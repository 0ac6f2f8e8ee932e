"""Requests that clients have sent and no thread has read: a group without a listener counts them nowhere.

The kernel of the server's host knows them: bytes that have come to a connection of the server's port and lie there.
"""

from collections.abc import Iterator
from pathlib import Path

TABLES = ("tcp", "tcp6")
ESTABLISHED = "01"
LOCAL, REMOTE, STATE, QUEUES = 1, 2, 3, 4
"""Columns of the kernel's tables of connections (proc_pid_net(5)); queues are `tx:rx`, in hexadecimal bytes."""


def unread_requests(pid: int, port: int) -> frozenset[str]:
    """The clients, by address and port, whose request lies unread at a moment; those that use the socket are not seen.

    Args:
        pid: The server's process.
        port: The port that it listens on.
    """
    return frozenset(remote for table in TABLES for remote in _unread(Path(f"/proc/{pid}/net/{table}"), port))


def _unread(table: Path, port: int) -> Iterator[str]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:  # the process is gone, or its host has no IPv6
        return
    for columns in map(str.split, lines):
        at_port = int(columns[LOCAL].rpartition(":")[2], 16) == port
        if at_port and columns[STATE] == ESTABLISHED and int(columns[QUEUES].partition(":")[2], 16):
            yield columns[REMOTE]
