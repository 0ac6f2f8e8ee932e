"""What became of a trial, for whoever proposed it."""

from collections.abc import Callable
from dataclasses import dataclass

from poolpilot.featurizer.window import Window


@dataclass(frozen=True)
class Tried:
    """A trial that is over.

    Attributes:
        before: The latest window of the tuple that was verified before.
        after: The latest window of the tuple that was tried.
        kept: Whether that one is verified now.
        model_digest: Digest of what proposed the way there; empty where nothing did.
    """

    before: Window
    after: Window
    kept: bool
    model_digest: str


OnTried = Callable[[Tried], None]
"""Is told of every trial."""
