"""System calls of a process, counted by the kernel's trace points through perf, which costs next to nothing."""

import shutil
import subprocess
import time

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
