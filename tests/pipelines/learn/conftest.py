"""A quick run of `poolpilot learn`: simulated pools, small windows, a small library that ships."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.learn import learning_plan, simulated_collection
from poolpilot.pipelines.learn.learn import LearnReport, learn
from poolpilot.pipelines.learn.learn_settings import LearnSettings

QUIET = Console(file=io.StringIO())
EVERY = 40
"""Of the curves that ship every so many make the small library."""

MINUTES = 1000.0
WORKLOADS = 9
"""Two batches: six workloads to learn from, three to judge by."""


@pytest.fixture(scope="session")
def small_library() -> ResponseCurves:
    shipped = load_curves()
    return ResponseCurves(grid=shipped.grid, source="some of what ships", curves=shipped.curves[::EVERY])


def made_quick(patch: pytest.MonkeyPatch, library: ResponseCurves) -> None:
    """Windows of few requests, a base that is quickly asked, and one round however many minutes."""
    patch.setattr(learn_module, "load_curves", lambda: library)
    patch.setattr(simulated_collection, "WINDOW_REQUESTS", 100)
    patch.setattr(learning_plan, "ROUND_MINUTES", MINUTES)


def learned_in(out: Path, **flags: object) -> LearnReport:
    """Runs it in a folder, for more minutes than anybody waits for: the number of workloads is what ends it."""
    given = {"minutes": MINUTES, "out": out, "servers": ("simulated",), "cpus": 2, "track": False}
    return learn(LearnSettings.load(None, {**given, "workloads": WORKLOADS, "margin": 1.0, **flags}), QUIET)


@pytest.fixture
def run_learn(
    monkeypatch: pytest.MonkeyPatch, small_library: ResponseCurves, tmp_path: Path
) -> Callable[..., LearnReport]:
    """Runs it in a folder of this test."""
    made_quick(monkeypatch, small_library)
    return partial(learned_in, tmp_path / "learned")
