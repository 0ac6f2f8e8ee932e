"""What speaks to the tuner from outside: people by files, and what the server is just doing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from poolpilot.durability.durable_writes import rename_durably
from poolpilot.errors import StoreError
from poolpilot.featurizer.snapshot import Hindrance

MOST_APPROVAL_BYTES = 256


class Approval(NamedTuple):
    """What a person has approved.

    Attributes:
        text: What their file holds; None where there is none, or it cannot be read.
        fault: Why it cannot be read; None where it can be, or there is none.
    """

    text: str | None = None
    fault: str | None = None


def nothing_hinders() -> tuple[Hindrance, ...]:
    """No hindrance: for servers that know of none."""
    return ()


@dataclass(frozen=True)
class Outside:
    """Where the tuner listens.

    Attributes:
        kill_file: While this file is there, nothing is set; None where nobody named one.
        approval_file: Holds the tuple that a person approves for one trial; None where nobody must.
        hindrances: Why nothing may be changed now.
    """

    kill_file: Path | None = None
    approval_file: Path | None = None
    hindrances: Callable[[], tuple[Hindrance, ...]] = nothing_hinders

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

    def approved(self) -> Approval:
        """What a person has approved; nothing where nobody must, or nobody has."""
        if self.approval_file is None:
            return Approval()
        try:
            with self.approval_file.open(encoding="utf-8") as file:
                return Approval(file.read(MOST_APPROVAL_BYTES).strip())
        except FileNotFoundError:
            return Approval()
        except OSError as error:
            return Approval(fault=error.strerror or str(error))
        except UnicodeDecodeError:
            return Approval(fault="it is no text in UTF-8")

    def use_up(self) -> None:
        """Takes what was approved away, since it was for the one trial that begins; beside it lies what it was.

        Raises:
            StoreError: It cannot be taken away, so that it would let the same step begin again and again.
        """
        if self.approval_file is None:
            return
        try:
            rename_durably(self.approval_file, self.approval_file.with_suffix(".used"))
        except FileNotFoundError:  # whoever approved has thought better of it since the observation
            return
        except OSError as error:
            raise StoreError(
                f"{self.approval_file} is used up and cannot be taken away ({error.strerror}): let the tuner write to "
                "its folder, or name another one with --log"
            ) from error
