"""The processor time that control groups leave to a process, in processors: what a container may use of its machine."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from poolpilot.mariadb.host.control_group import CGROUPS, PROC, ControlGroup, UnreadableGroupError
from poolpilot.mariadb.host.quota_periods import ThrottlingOf


@dataclass(frozen=True, slots=True)
class CpuQuota:
    """What the groups of a process, and those above them, say at one moment.

    Attributes:
        cpus: The tightest limit in processors, a fraction maybe; None where there is none that can be read.
        throttling: What each group that tells has counted.
        faults: What cannot be read though it is there, as parts of a sentence; a limit there is not seen.
    """

    cpus: float | None
    throttling: ThrottlingOf
    faults: tuple[str, ...] = ()

    @classmethod
    def read(cls, pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> Self:
        """Reads them: some ten small files.

        Args:
            pid: The process.
            proc: Where /proc is.
            cgroups: Where the control groups are.
        """
        quotas, throttling, faults = [], {}, []
        try:
            for group in ControlGroup.all_of(pid, proc, cgroups):
                try:
                    quotas.append(group.quota())
                except UnreadableGroupError as error:
                    faults.append(str(error))
                if (counted := group.throttling()) is not None:
                    throttling[group.folder] = counted
        except UnreadableGroupError as error:
            faults.append(str(error))
        limits = [quota for quota in quotas if quota is not None]
        return cls(min(limits, default=None), throttling, tuple(dict.fromkeys(faults)))


@dataclass(frozen=True, slots=True)
class UsableCpus:
    """The processors that a process may use.

    Attributes:
        allowed: Those of its affinity, in number.
        quota: What its control groups leave it of their time.
    """

    allowed: int
    quota: CpuQuota

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Those of a process of this host; None when it is gone."""
        try:
            return cls(len(os.sched_getaffinity(pid)), CpuQuota.read(pid))
        except OSError:
            return None

    @property
    def cpus(self) -> float:
        """How many, a fraction maybe."""
        return float(self.allowed) if self.quota.cpus is None else min(float(self.allowed), self.quota.cpus)


def whole_cpus(cpus: float) -> int:
    """Processors for who counts in whole ones; a part of one counts whole."""
    return max(math.ceil(cpus), 1)
