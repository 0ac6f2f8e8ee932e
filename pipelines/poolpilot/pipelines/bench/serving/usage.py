"""What a process has used, read from /proc, and the system calls that it begins, counted by the kernel's trace points.

Any process, so that servers of others are measured alike. Counting through perf costs next to nothing.
"""

import os
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process has used since its start.

    Attributes:
        cpu_s: Time of its threads on a processor, in the kernel too; in steps of a clock tick, 10 ms.
        switches: Context switches of the threads that live.
        resident_bytes: Memory of its own that is in use now.
        threads: Threads that live now.
    """

    cpu_s: float
    switches: int
    resident_bytes: int
    threads: int

    @classmethod
    def of(cls, pid: int) -> Self:
        """Reads it.

        Raises:
            FileNotFoundError: The process has ended.
        """
        process = Path(f"/proc/{pid}")
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        tasks = [switches_of(task) for task in (process / "task").iterdir()]
        return cls(
            cpu_s=(int(fields[11]) + int(fields[12])) / TICKS_PER_S,
            switches=sum(tasks),
            resident_bytes=int((process / "statm").read_text().split()[1]) * resource.getpagesize(),
            threads=len(tasks),
        )


def switches_of(task: Path) -> int:
    """Context switches of a thread; 0 where it has just ended."""
    try:
        lines = (task / "status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


EVENT = "raw_syscalls:sys_enter"
EXTRA_S = 5.0


def system_calls(pid: int, seconds: float) -> float:
    """Calls that a process begins in some seconds; NaN where perf is missing or may not look."""
    perf = shutil.which("perf")
    if perf is None:
        time.sleep(seconds)
        return float("nan")
    command = [perf, "stat", "--event", EVENT, "--pid", str(pid), "--field-separator", ",", "sleep", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + EXTRA_S)
    counted = [line.split(",")[0] for line in done.stderr.splitlines() if EVENT in line]
    return float(counted[0]) if counted and counted[0].isdigit() else float("nan")
