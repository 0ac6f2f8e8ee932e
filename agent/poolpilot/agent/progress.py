"""How training tells its progress: one call per epoch or iteration."""

from collections.abc import Callable, Mapping

Progress = Callable[[int, Mapping[str, float]], None]
"""Takes the number of the epoch or iteration and its metrics by name."""


def silent(_: int, __: Mapping[str, float]) -> None:
    """Tells nobody."""
