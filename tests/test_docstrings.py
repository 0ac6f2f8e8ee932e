"""The examples in docstrings of what users call run and give what they show."""

import doctest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def modules_with_examples() -> Iterator[str]:
    for path in ROOT.glob("*/**/poolpilot/**/*.py"):
        inside = path.relative_to(ROOT).as_posix()
        if not inside.startswith((".venv/", "build/")) and "    >>> " in path.read_text(encoding="utf-8"):
            name = inside.rpartition("poolpilot/")[2].removesuffix(".py").removesuffix("/__init__")
            yield f"poolpilot.{name.replace('/', '.')}"


WITH_EXAMPLES = sorted(modules_with_examples())

MOST_USED = (
    "poolpilot.env.action_grid",
    "poolpilot.env.controller",
    "poolpilot.env.knobs",
    "poolpilot.env.objective",
    "poolpilot.env.servers.curve",
    "poolpilot.env.servers.recorded",
    "poolpilot.env.servers.simulated",
    "poolpilot.env.tuning.loop",
    "poolpilot.featurizer.histogram",
    "poolpilot.featurizer.pool_tuple",
    "poolpilot.featurizer.snapshot",
    "poolpilot.featurizer.window",
    "poolpilot.models.predictor",
)
"""Modules whose classes a user meets first."""


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name: str) -> None:
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


def test_what_is_used_most_has_examples() -> None:
    assert set(MOST_USED) <= set(WITH_EXAMPLES)
