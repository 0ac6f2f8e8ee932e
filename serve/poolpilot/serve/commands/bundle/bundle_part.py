"""A file of a bundle."""

from dataclasses import dataclass
from typing import Any, Self

from poolpilot.env.output import json_text


@dataclass(frozen=True, slots=True)
class BundlePart:
    """What one file of a bundle holds.

    Attributes:
        name: Its path in the bundle.
        holds: What it is, in a few words.
        text: What is in it.
        fixed: Whether that is the same on every host, so that no secret of this one stands in it, whatever it reads.
    """

    name: str
    holds: str
    text: str
    fixed: bool = False

    @classmethod
    def of_values(cls, name: str, holds: str, values: Any) -> Self:
        """A part in JSON, laid out to be read."""
        return cls(name, holds, json_text(values, indent=1) + "\n")

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text.encode())
