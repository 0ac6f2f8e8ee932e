"""What speaks to the tuner from outside: people by files, and what the server is just doing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from poolpilot.env.durability.durable_writes import flush_folder
from poolpilot.errors import StoreError

MOST_APPROVAL_BYTES = 256


def nothing_hinders() -> tuple[str, ...]:
    """No hindrance: for servers that know of none."""
    return ()


@dataclass(frozen=True)
class Outside:
    """Where the tuner listens.

    Attributes:
        kill_file: While this file is there, nothing is set; None where nobody named one.
        approval_file: Holds the tuple that a person approves for one try; None where nobody must.
        hindrances: Why nothing may be changed now, as sentences.
    """

    kill_file: Path | None = None
    approval_file: Path | None = None
    hindrances: Callable[[], tuple[str, ...]] = nothing_hinders

    def killed(self) -> bool:
        """Whether the kill switch is thrown; one that cannot be looked at counts as thrown."""
        if self.kill_file is None:
            return False
        try:
            self.kill_file.lstat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def approved(self) -> str | None:
        """What a person has approved; None where nothing is, or it cannot be read."""
        if self.approval_file is None:
            return None
        try:
            with self.approval_file.open(encoding="utf-8") as file:
                return file.read(MOST_APPROVAL_BYTES).strip()
        except (OSError, UnicodeDecodeError):
            return None

    def use_up(self) -> None:
        """Takes what was approved away, since it was for the one try that begins; beside it lies what it was.

        Raises:
            StoreError: It cannot be taken away, so that it would let the same step begin again and again.
        """
        if self.approval_file is None:
            return
        try:
            self.approval_file.replace(self.approval_file.with_suffix(".used"))
            flush_folder(self.approval_file.parent)
        except FileNotFoundError:  # whoever approved has thought better of it since the look
            return
        except OSError as error:
            raise StoreError(
                f"{self.approval_file} is used up and cannot be taken away ({error.strerror}): let the tuner write to "
                "its folder, or name another one with --log"
            ) from error
