"""What `poolpilot learn` finds out about the machine before it spends minutes on it."""

import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.steal import StealMeter
from poolpilot.errors import SettingError
from poolpilot.lab.host.programs import missing

LEAST_FREE_MB = 500
LEAST_FREE_FOR_MARIADB_MB = 4000
MB = 1 << 20

NOISY = 0.10
"""Spread of equal pieces of work from which on live records are not worth much."""

PIECES, PIECE = 60, 40_000


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """What was found.

    Attributes:
        cpus: Processors that this process may use.
        cpus_learned_for: Processors of the server that is to be tuned.
        free_mb: Free space where models and a private MariaDB go.
        free_for_records_mb: Free space where the records go, which may be another file system.
        steal_share: Share of processor time that a hypervisor took; None where nobody can tell.
        noise: Spread of how long equal pieces of work took: the middle half over the median.
        missing_packages: Debian packages that the private MariaDB needs and that are not there.
    """

    cpus: int
    cpus_learned_for: int
    free_mb: int
    free_for_records_mb: int
    steal_share: float | None
    noise: float
    missing_packages: tuple[str, ...]

    @classmethod
    def of(cls, out: Path, records: Path, cpus: int, *, mariadb: bool) -> "MachineCheck":
        """Checks this machine; a fraction of a second.

        Args:
            out: Where models and a private MariaDB are to go; need not be there.
            records: Where records are to go; need not be there either.
            cpus: Processors of the server that is to be tuned.
            mariadb: Whether a private MariaDB will be started.

        Raises:
            SettingError: There is too little space; the text says where.
        """
        meter = StealMeter()
        noise = _noise()
        free_mb = _free_mb(out, LEAST_FREE_FOR_MARIADB_MB if mariadb else LEAST_FREE_MB, ("models", "--out"))
        for_records_mb = _free_mb(records, LEAST_FREE_MB, ("records", "--store"))
        usable = len(os.sched_getaffinity(0))
        return cls(usable, cpus, free_mb, for_records_mb, meter.share(), noise, tuple(missing()))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know of records that are measured here."""
        said = []
        if self.noise > NOISY or (self.steal_share or 0.0) > NOISY:
            said.append(
                f"this machine is not quiet (equal work spreads by {self.noise:.0%}): live records will be noisy; end "
                "what else runs here"
            )
        if self.cpus < self.cpus_learned_for:
            said.append(
                f"the server has {self.cpus_learned_for} processors and this machine {self.cpus}: only the simulator "
                "knows the larger one"
            )
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """The same, fit for JSON."""
        return asdict(self)


def _noise() -> float:
    """Interquartile range over median of the processor's time for equal work."""
    taken = []
    for _ in range(PIECES):
        begun_s = time.perf_counter()
        sum(range(PIECE))
        taken.append(time.perf_counter() - begun_s)
    low, middle, high = np.quantile(taken, [0.25, 0.5, 0.75])
    return float((high - low) / middle)


def _free_mb(folder: Path, needed_mb: int, purpose: tuple[str, str]) -> int:
    """Free space of a folder's file system; refuses less than what is needed, by what goes there and its option."""
    kept, flag = purpose
    free_mb = shutil.disk_usage(_existing(folder)).free // MB
    if free_mb < needed_mb:
        raise SettingError(
            f"{folder}, where {kept} go, has {free_mb} MB free and {needed_mb} are needed: make room, or name another "
            f"with {flag}"
        )
    return free_mb


def _existing(folder: Path) -> Path:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return place
