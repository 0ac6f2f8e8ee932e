"""The response curves that come with the package, or those that an environment variable names."""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

from poolpilot.models.latent.response_curves import ResponseCurves

VARIABLE = "POOLPILOT_CURVES"
"""Environment variable that names another file of response curves."""

SHIPPED = "curves.json.xz"


def load_curves(path: Path | None = None) -> ResponseCurves:
    """Loads response curves: those of the argument, else of the environment variable, else those of the package.

    Raises:
        ArtefactError: The file cannot be read, or holds no response curves.
    """
    named = os.environ.get(VARIABLE)
    if path is None and not named:
        return _of_the_package()
    return ResponseCurves.load(path or Path(named or ""))


@cache
def _of_the_package() -> ResponseCurves:
    return ResponseCurves.load(Path(str(files("poolpilot.models.latent") / SHIPPED)))
