"""What a result was made with: digests of the tuner's code, of the workloads' and of the curves, for reports and runs.

Runs that a benchmark keeps are taken up again only where these are the same, so that a report is of one tuner.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from poolpilot.models.latent.shipped_curves import load_curves

TUNER = ("poolpilot.serve.tuner", "poolpilot.models.latent")
WORKLOADS = ("poolpilot.env.workloads",)
SHOWN = 16
"""Digits of a digest that are written."""


@cache
def made_with() -> dict[str, str]:
    """Digests of the tuner with its predictor, of the workloads that are drawn, and of the known curves."""
    return {
        "tuner": code_digest(TUNER),
        "workloads": code_digest(WORKLOADS),
        "curves": load_curves().digest[:SHOWN],
    }


def code_digest(packages: Sequence[str]) -> str:
    """One digest of all Python files of some packages, by their names within them."""
    found = hashlib.sha256()
    for package in packages:
        for path, name in _sources(package):
            found.update(f"{package}/{name}\n".encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:SHOWN]


def _sources(package: str) -> list[tuple[Path, str]]:
    folder = Path(next(iter(import_module(package).__path__)))
    return [(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*.py"))]
