"""The server's process, where it runs on this host: processor time, processors, memory."""

import socket
import time
from dataclasses import dataclass
from pathlib import Path

from poolpilot.mariadb.host.cpu_quota import UsableCpus
from poolpilot.mariadb.session import Session

CLOCK_OF_PROCESS = 2
"""Low bits of the clock id that counts the processor time of all threads of a process (`CPUCLOCK_SCHED`)."""

SERVER_NAMES = ("mariadbd", "mysqld")


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A process of this host.

    Attributes:
        pid: Its id.
    """

    pid: int

    @classmethod
    def of(cls, session: Session) -> "ServerProcess | None":
        """The process at the other end of a session; None where it runs on another host or cannot be told."""
        pid = session.peer_process()
        if (pid is None or _name_of(pid) not in SERVER_NAMES) and session.is_local:  # systemd may hold the socket
            pid = _pid_from_file(session)
        return cls(pid) if pid is not None and _name_of(pid) in SERVER_NAMES else None

    def cpu_us(self) -> float | None:
        """Processor time of all its threads, those that have ended included, in microseconds; None when it is gone."""
        try:
            return time.clock_gettime_ns((~self.pid << 3) | CLOCK_OF_PROCESS) / 1000.0
        except OSError:
            return None

    def cpus(self) -> UsableCpus | None:
        """Processors that it may use, by its affinity and by the quota of its control groups; None when it is gone."""
        return UsableCpus.of(self.pid)


def _pid_from_file(session: Session) -> int | None:
    hostname, data, file = session.row("SELECT @@hostname, @@datadir, @@pid_file")
    if hostname != socket.gethostname():
        return None
    try:
        return int((Path(data) / file).read_text())
    except PermissionError:  # the unit of MariaDB lets its own group read it
        return _only_server()
    except (OSError, ValueError):
        return None


def _only_server() -> int | None:
    """The one server that runs on this host; None where there are several, or none can be seen."""
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    found = [pid for pid in numbers if _name_of(pid) in SERVER_NAMES]
    return found[0] if len(found) == 1 else None


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
