"""The machine that was fitted to a host, kept in a folder, so that later runs on that host simulate it too."""

import os
import platform
import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import StoreError
from poolpilot.native_pool.simulation import CALIBRATED, Machine

NAME = "fitted_machine.json"

PROCESSORS = Path("/proc/cpuinfo")
_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)


class FittedOn(BaseModel):
    """What a machine was fitted on; it says nothing of a host where any of this differs.

    Attributes:
        host: Name of the host.
        kernel: Release of its kernel.
        processor: What its processors are called.
        usable_cpus: Processors that the process could use which measured.
        cpus: Processors of the server that is to be tuned.
        shipped: The machine that ships, beside which it was judged; another one comes with another simulator.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    kernel: str
    processor: str
    usable_cpus: int
    cpus: int
    shipped: Machine

    @classmethod
    def here(cls, cpus: int) -> "FittedOn":
        """This host.

        Args:
            cpus: Processors of the server that is to be tuned.
        """
        return cls(
            host=platform.node(),
            kernel=platform.release(),
            processor=_processor(),
            usable_cpus=len(os.sched_getaffinity(0)),
            cpus=cpus,
            shipped=CALIBRATED,
        )

    def differing(self, other: "FittedOn") -> list[str]:
        """Names of what is not the same."""
        return [name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)]


class FittedMachine(BaseModel):
    """A fitted machine.

    Attributes:
        machine: The machine.
        fitted_on: What it was fitted on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    machine: Machine
    fitted_on: FittedOn

    def keep(self, folder: Path) -> None:
        """Writes it to a folder that is there, in the place of the one before.

        Raises:
            StoreError: It cannot be written.
        """
        path = folder / NAME
        try:
            write_durably(path, f"{self.model_dump_json(indent=1)}\n".encode())
        except OSError as error:
            raise StoreError(
                f"cannot write the fitted machine {path}: {error.strerror}; name another folder with --out"
            ) from error


def machine_to_begin_with(folder: Path, here: FittedOn) -> tuple[Machine, str | None]:
    """The machine that was fitted to this host by an earlier run, else the one that ships.

    Args:
        folder: Folder in which earlier runs have kept theirs.
        here: What is to be simulated.

    Returns:
        The machine, and what is to be said of it, as a sentence; None where no run has kept one.
    """
    path = folder / NAME
    if not path.exists():
        return CALIBRATED, None
    shipped = "The simulator begins with the machine that ships"
    try:
        kept = FittedMachine.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # of pydantic's errors and of those of decoding, too
        return CALIBRATED, f"{shipped}: {path} cannot be read ({_reason(error)})."
    differing = kept.fitted_on.differing(here)
    if differing:
        names = ", ".join(name.replace("_", " ") for name in differing)
        return CALIBRATED, f"{shipped}: the one in {path} was fitted on something else, which differs in {names}."
    return kept.machine, f"The simulator begins with the machine that an earlier run has fitted to this host ({path})."


def _reason(error: Exception) -> str:
    """What is wrong with a file, in a few words: pydantic's texts have several lines."""
    if isinstance(error, ValidationError):
        return error.errors()[0]["msg"]
    return str(error.strerror) if isinstance(error, OSError) else "it is no text in UTF-8"


def _processor() -> str:
    """What the processors are called; their architecture where the kernel gives them no name."""
    try:
        found = _MODEL.search(PROCESSORS.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        found = None
    return platform.machine() if found is None else found[1]
