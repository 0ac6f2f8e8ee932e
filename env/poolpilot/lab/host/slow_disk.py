"""A disk of changeable latency: a library loaded before the server that delays its reads, writes and flushes."""

import struct
from dataclasses import dataclass
from pathlib import Path

from poolpilot.errors import ServerError, SettingError

CONTROL_VARIABLE = "POOLPILOT_SLOW_DISK"
LIBRARY = "libslow_disk.so"
LONGEST_US = 10_000_000
LAYOUT = struct.Struct("=3q")
"""Delays of a read, a write and a flush in microseconds, as `native_pool/slow_disk/slow_disk.cpp` maps them."""


@dataclass(frozen=True, slots=True)
class SlowDisk:
    """The control file of a slow disk; what is written to it holds from the next operation on.

    Attributes:
        control: The file.
    """

    control: Path

    def set(self, read_us: int, write_us: int, flush_us: int) -> None:
        """Sets the delays of every read, write and flush.

        Raises:
            SettingError: One is out of its range.
        """
        delays = (read_us, write_us, flush_us)
        if any(not 0 <= delay_us <= LONGEST_US for delay_us in delays):
            raise SettingError(f"the delays of a slow disk are {delays} us; allowed is 0..{LONGEST_US} each")
        if not self.control.exists():
            self.control.write_bytes(LAYOUT.pack(0, 0, 0))
            self.control.chmod(0o644)  # the server reads it, and may run as another account
        with self.control.open("r+b") as file:  # in place: the server has mapped these bytes
            file.write(LAYOUT.pack(*delays))

    def environment(self) -> dict[str, str]:
        """What the server's environment needs.

        Raises:
            ServerError: The library is not there.
        """
        self.set(0, 0, 0)  # whatever was set before: every server starts alike
        return {"LD_PRELOAD": str(library()), CONTROL_VARIABLE: str(self.control)}


def library() -> Path:
    """The shared library.

    Raises:
        ServerError: It is not installed.
    """
    from poolpilot import native_pool

    for folder in native_pool.__path__:
        library = Path(folder) / LIBRARY
        if library.is_file():
            return library
    raise ServerError(f"{LIBRARY} is not beside the extension of poolpilot.native_pool; install poolpilot again")
