"""The control groups of a process, in both versions: limits on its processor time, and how often they were reached."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from poolpilot.featurizer.untrusted import shown
from poolpilot.mariadb.host.quota_periods import Throttling

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")

V1_CONTROLLER = "cpu"
V1_FOLDERS = ("cpu,cpuacct", "cpuacct,cpu", V1_CONTROLLER)
"""Folders of version 1 that the controller of processor time may have, whatever a process calls it."""

V2_FOLDER = "unified"
"""Folder of version 2 on hosts that run both."""

V2_MARK = "cgroup.controllers"
"""File of every group of version 2."""

UNLIMITED = ("max", "-1")
"""How the two versions write that there is no limit."""

LONGEST = 1 << 16
"""Bytes of a file that are read; the kernel writes far fewer."""

THROTTLED_US = {"throttled_usec": 1.0, "throttled_time": 1e-3}
"""Name of the throttled time in either version, and microseconds in its unit."""


class UnreadableGroupError(Exception):
    """A file of a control group is there and tells nothing; the text says which and why."""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One group.

    Attributes:
        folder: Where its files are.
        is_v1: Whether it is of version 1.
    """

    folder: Path
    is_v1: bool

    @classmethod
    def all_of(cls, pid: int, proc: Path, cgroups: Path) -> Iterator[Self]:
        """The groups that may limit the processor time of a process, and those above them, the innermost first.

        Raises:
            UnreadableGroupError: They cannot be told.
        """
        for line in _text(proc / str(pid) / "cgroup").splitlines():
            _, _, named = line.partition(":")
            controllers, _, path = named.partition(":")
            if not controllers or V1_CONTROLLER in controllers.split(","):
                root = _v1_root(controllers, cgroups) if controllers else _v2_root(cgroups)
                relative = Path(path.lstrip("/"))
                if ".." in relative.parts:
                    raise UnreadableGroupError(f"the control group {path} is outside of those that are seen from here")
                yield from (cls(root / each, bool(controllers)) for each in (relative, *relative.parents))

    def quota(self) -> float | None:
        """Processors that it may use, a fraction maybe; None without a limit.

        Raises:
            UnreadableGroupError: Its file cannot be read, or holds no limit.
        """
        if self.is_v1:
            said = " ".join(_text(self.folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
        else:
            said = _text(self.folder / "cpu.max").strip()
        quota, _, period = said.partition(" ")
        if not quota or quota in UNLIMITED:
            return None
        try:
            cpus = int(quota) / int(period)
        except (ValueError, ArithmeticError):
            cpus = 0.0
        if cpus <= 0.0:
            raise UnreadableGroupError(f"the CPU quota of {self.folder} is {shown(said)}, which limits nothing")
        return cpus

    def throttling(self) -> Throttling | None:
        """How often its limit was reached; None where that is not told."""
        try:
            lines = [line.split() for line in _text(self.folder / "cpu.stat").splitlines()]
            counts = {name: float(value) for name, value in lines}
        except (UnreadableGroupError, ValueError):
            return None
        throttled_us = [counts[name] * unit for name, unit in THROTTLED_US.items() if name in counts]
        if not throttled_us or not {"nr_periods", "nr_throttled"} <= counts.keys():
            return None
        return Throttling(counts["nr_periods"], counts["nr_throttled"], throttled_us[0])


def _v1_root(controllers: str, cgroups: Path) -> Path:
    found = (cgroups / name for name in (controllers, *V1_FOLDERS) if _is_there(cgroups / name))
    return next(found, cgroups / controllers)


def _v2_root(cgroups: Path) -> Path:
    has_both = _is_there(cgroups / V2_FOLDER) and not _is_there(cgroups / V2_MARK)
    return cgroups / V2_FOLDER if has_both else cgroups


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise _unreadable(path, error) from error


def _text(file: Path) -> str:
    """What a file holds; nothing where there is none.

    Raises:
        UnreadableGroupError: It is there and cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(LONGEST).decode(errors="replace")
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError):
        return ""
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(path: Path, error: OSError) -> UnreadableGroupError:
    return UnreadableGroupError(f"{path} cannot be read ({error.strerror})")
