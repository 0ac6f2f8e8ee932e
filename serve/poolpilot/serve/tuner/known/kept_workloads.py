"""The file in which known workloads outlive a tuner; written anew each time that one is added."""

import os
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from poolpilot.env.durability.durable_writes import flush_folder, write_whole
from poolpilot.errors import StoreError
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads

KEPT_NAME = "known_workloads.json"
LARGEST_BYTES = 4 << 20


class KeptWorkloads:
    """Known workloads in a file of a folder.

    Args:
        folder: The folder of the decisions about one server.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / KEPT_NAME

    def read(self) -> KnownWorkloads:
        """The workloads that are kept; none where there is no file yet.

        Raises:
            StoreError: It cannot be read, or is damaged.
        """
        try:
            with self.path.open("rb") as file:
                raw = file.read(LARGEST_BYTES)
            return KnownWorkloads.model_validate_json(raw)
        except FileNotFoundError:
            return KnownWorkloads()
        except OSError as error:
            raise StoreError(
                f"cannot read {self.path} ({error.strerror}): no workload of earlier days is known"
            ) from error
        except ValidationError as error:
            raise StoreError(
                f"{self.path} is no file of known workloads ({error.error_count()} errors): remove it, or name another "
                "folder with --log"
            ) from error

    def write(self, known: KnownWorkloads) -> None:
        """Writes the workloads; what was kept before stays where that cannot be done, and tuning goes on."""
        fresh = self.path.with_suffix(".new")
        with suppress(OSError):
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                write_whole(descriptor, known.model_dump_json(exclude_defaults=True).encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            fresh.replace(self.path)
            flush_folder(self.path.parent)
