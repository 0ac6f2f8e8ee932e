"""A quick run of `poolpilot learn`: simulated pools, small windows, a small library that ships."""

import io
import shutil
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


FROM_RECORDS = {"minutes": 1e-9, "workloads": None}
"""Flags of a run that has no time to collect anything: it learns from the records that are there."""


def learned_in(out: Path, **flags: object) -> LearnReport:
    """Runs it in a folder, for more minutes than anybody waits for: the number of workloads is what ends it."""
    given = {"minutes": MINUTES, "out": out, "servers": ("simulated",), "cpus": 2, "track": False}
    return learn(LearnSettings.load(None, {**given, "workloads": WORKLOADS, "margin": 1.0, **flags}), QUIET)


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, small_library: ResponseCurves) -> LearnReport:
    """What a run comes to that nobody stops; its folder is to be read only."""
    with pytest.MonkeyPatch.context() as patch:
        made_quick(patch, small_library)
        return learned_in(tmp_path_factory.mktemp("whole") / "learned")


@pytest.fixture
def recorded(uninterrupted: LearnReport, tmp_path: Path) -> None:
    """The run of this test finds the records of another."""
    shutil.copytree(uninterrupted.out / "records", tmp_path / "learned" / "records")


@pytest.fixture
def run_learn(
    monkeypatch: pytest.MonkeyPatch, small_library: ResponseCurves, tmp_path: Path
) -> Callable[..., LearnReport]:
    """Runs it in a folder of this test."""
    made_quick(monkeypatch, small_library)
    return partial(learned_in, tmp_path / "learned")
