"""A file beside the log of decisions in which something outlives a tuner; it is replaced as a whole."""

from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import StoreError

LARGEST_BYTES = 4 << 20

Kept = TypeVar("Kept", bound=BaseModel)


class KeptFile(Generic[Kept]):
    """What is kept in one file.

    Args:
        path: The file.
        kind: What it holds; made without values where there is no file yet.
        called: What that is called.
    """

    def __init__(self, path: Path, kind: type[Kept], called: str) -> None:
        self.path = path
        self._kind, self._called = kind, called

    def read(self) -> Kept:
        """What is kept; nothing where there is no file yet.

        Raises:
            StoreError: It cannot be read, or is damaged.
        """
        remedy = "remove it, or name another folder with --log"
        try:
            with self.path.open("rb") as file:
                raw = file.read(LARGEST_BYTES)
            return self._kind.model_validate_json(raw)
        except FileNotFoundError:
            return self._kind()
        except OSError as error:
            raise StoreError(f"cannot read {self.path} ({error.strerror}): {remedy}") from error
        except ValidationError as error:
            raise StoreError(
                f"{self.path} is no file of {self._called} ({error.error_count()} errors): {remedy}"
            ) from error

    def write(self, kept: Kept) -> None:
        """Writes it; what was kept before stays where that cannot be done, and tuning goes on."""
        with suppress(OSError):
            write_durably(self.path, kept.model_dump_json(exclude_defaults=True).encode(), 0o600)
