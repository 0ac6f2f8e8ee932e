"""Every decision of a log made again, and those that are others now: of another release, or by a fault of ours."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from poolpilot.errors import StoreError
from poolpilot.serve.tuner.decision_replay import replayed


@dataclass(frozen=True)
class ReplayedLog:
    """What came of replaying a log.

    Attributes:
        decisions: Decisions that were made again.
        differing: What the first one that differs was and is now, of each file that has one.
        left_out: Why files could not be replayed to their end.
    """

    decisions: int
    differing: tuple[str, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, files: Iterable[Path]) -> Self:
        """Replays files, each for itself."""
        decisions, differing, left_out = 0, [], []
        for path in files:
            try:
                for then, now in replayed(path):
                    decisions += 1
                    if then != now:
                        differing.append(f"{path.name}: {then.reason!r} then, {now.reason!r} now")
                        break
            except StoreError as error:
                left_out.append(str(error))
        return cls(decisions, tuple(differing), tuple(left_out))

    def check(self, folder: Path) -> None:
        """Refuses a log of which nothing was replayed: who checks by it would take that for a pass.

        Raises:
            StoreError: No decision was made again.
        """
        if not self.decisions:
            why = "none of its files can be replayed" if self.left_out else "it holds no decision yet"
            raise StoreError(f"nothing was replayed of the log in {folder}: {why}; name another folder")

    def in_words(self) -> str:
        """What came of it, a line for each thing to say."""
        alike = ": all as they were" if self.decisions else ""
        if self.differing:
            alike = ": others now, of each file the first is named"
        said = [f"Replayed {self.decisions} decisions{alike}.", *self.differing]
        return "\n".join([*said, *(f"not replayed: {why}" for why in self.left_out)])
