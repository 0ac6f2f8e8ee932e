"""The processor time that control groups leave to a process, in processors: what a container may use of its machine."""

from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

V1_CONTROLLER = "cpu"
UNLIMITED = ("max", "-1")
"""How the two versions of control groups write that there is no limit."""


def cpu_quota(pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> float | None:
    """The tightest limit on the groups of a process and on those above them.

    Args:
        pid: The process.
        proc: Where /proc is.
        cgroups: Where the control groups are.

    Returns:
        Processors, a fraction maybe; None where there is no limit, or none that can be read.
    """
    try:
        lines = (proc / str(pid) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    quotas = [quota for line in lines for quota in _quotas_of(line, cgroups)]
    return min(quotas, default=None)


def _quotas_of(line: str, cgroups: Path) -> Iterator[float]:
    """The limits along one hierarchy, given as `number:controllers:/path`; version 2 names no controllers."""
    _, _, named = line.partition(":")
    controllers, _, path = named.partition(":")
    if controllers and V1_CONTROLLER not in controllers.split(","):
        return
    root = cgroups / controllers if controllers else cgroups
    relative = Path(path.lstrip("/"))
    for group in (relative, *relative.parents):
        try:
            quota, period = _limit(root / group, is_v1=bool(controllers))
            if quota not in UNLIMITED:
                yield int(quota) / int(period)
        except (OSError, ValueError):
            continue


def _limit(group: Path, *, is_v1: bool) -> list[str]:
    """Microseconds of processor time, and in how many they may be used."""
    if is_v1:
        return [(group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period")]
    return (group / "cpu.max").read_text().split()
