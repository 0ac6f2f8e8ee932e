"""Why a pool is better left alone for now, and whether the pool itself is the reason."""

from dataclasses import dataclass
from enum import StrEnum


class HindranceKind(StrEnum):
    """What a hindrance comes of."""

    BESIDE = "beside"
    """It goes on beside the pool: no trial can have brought it about."""

    STUCK = "stuck"
    """The pool itself serves nobody, which a trial may have brought about."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """A reason to leave a pool alone for now.

    Attributes:
        text: It, as a sentence.
        kind: What it comes of; programs decide by this and never by the sentence.

    Examples:
        >>> backup = Hindrance("a backup runs")
        >>> str(backup), backup.kind.value
        ('a backup runs', 'beside')
    """

    text: str
    kind: HindranceKind = HindranceKind.BESIDE

    def __str__(self) -> str:
        return self.text
