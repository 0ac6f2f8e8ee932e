"""Public names of a package that are imported when they are first asked for (PEP 562).

`from poolpilot.env import CurveServer` costs what a curve costs, and no import of a package brings torch, gymnasium or
PyMySQL along. What a name needs and the base installation lacks is said in a sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package assigns to `__getattr__` and `__dir__`.

    Args:
        package: `__name__` of the package.
        homes: Modules of the package, each with the names it gives.

    Returns:
        What gives a name, and what lists them all.

    Examples:
        >>> get, names = lazy_names("poolpilot.featurizer", {"histogram": ["Histogram"]})
        >>> get("Histogram")().count, names()
        (0, ['Histogram'])
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(home_of[name]), name)
        except ModuleNotFoundError as error:
            missing = (error.name or "poolpilot").partition(".")[0]
            if missing == "poolpilot":
                raise
            raise ModuleNotFoundError(
                f"{package}.{name} needs {missing!r}, which the base installation lacks; "
                "in a clone of PoolPilot: pip install '.[train]'",
                name=missing,
            ) from error

    return get, lambda: sorted(home_of)
