"""What may be wrong with records: kinds of faults, each with its sentence."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from poolpilot.errors import StoreError

FaultKind = Literal["damaged", "schema", "duplicate", "no_default", "leak", "timer", "non_finite"]

FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with some records.

    Attributes:
        kind: What kind of fault it is.
        where: File or folder it was found in.
        subject: Row, workload or family it is about; empty where it is about the whole of `where`.
        sentence: What is wrong, where, and what to do.
        refused: Whether nothing may learn from such records; else it is only to be known.
    """

    kind: FaultKind
    where: Path
    subject: str
    sentence: str
    refused: bool = True

    def as_dict(self) -> dict[str, str | bool]:
        """The fields, fit for JSON."""
        return {**asdict(self), "where": str(self.where)}


def refuse(faults: Iterable[Fault], folders: Sequence[Path]) -> list[Fault]:
    """Refuses records with faults; returns those that are only to be known.

    Args:
        faults: What was found.
        folders: Where, for the sentence.

    Raises:
        StoreError: Nothing may learn from these records.
    """
    found = list(faults)
    refused = [fault for fault in found if fault.refused]
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise StoreError(
            f"these records are refused: {refused[0].sentence}{more}; all that is wrong is shown by: poolpilot records "
            f"--check {' '.join(map(str, folders))}"
        )
    return found


def said(kind: FaultKind, where: Path, check: Callable[..., object], *given: object) -> Iterator[Fault]:
    """The sentence with which a check of the data set refuses, as a fault."""
    try:
        check(*given)
    except StoreError as error:
        yield Fault(kind, where, "", str(error))
