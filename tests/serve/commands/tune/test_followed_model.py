"""A tuner is answered by the model that lies where it was told to look, and by the one before where that is damaged."""

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console
from tests.pipelines.production.conftest import curves_named, files_of

from poolpilot.env import CurveServer, observe
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.backends import Backend
from poolpilot.errors import ArtefactError
from poolpilot.models.advice.prediction import Predictor
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.serve.commands.tune.followed_model import followed_model
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.tuner.machine.decision import Mode

FIRST, SECOND = curves_named("first").digest, curves_named("second").digest


@pytest.fixture
def shelf(tmp_path: Path) -> ModelShelf:
    """Two models, of which the first is in force."""
    shelf = ModelShelf(tmp_path / "learned")
    for name in ("first", "second"):
        shelf.put(curves_named(name).digest, files_of(name))
    shelf.promote(FIRST)
    return shelf


@pytest.fixture
def told() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def follow(shelf: ModelShelf, told: io.StringIO) -> Iterator[Callable[[float], Predictor]]:
    """What proposes to a tuner that looks every so many seconds."""
    opened = []

    def followed(every_s: float) -> Predictor:
        settings = TuneSettings(mode=Mode.APPLY, model=shelf.current, follow_every_s=every_s, backend=Backend.SIMULATED)
        opened.append(followed_model(settings, Console(file=told, width=200)))
        return opened[-1].__enter__()

    yield followed
    for each in opened:
        each.__exit__(None, None, None)


def answers_by(predictor: Predictor) -> str:
    """Digest of the model that answers."""
    server = CurveServer([(1, 100), (16, 1600)], cpus=2, connections=64)
    return predictor.predict([observe(server, 5.0).window], server.knobs, Objective()).model_digest


def wait_until(condition: Callable[[], bool]) -> None:
    while not condition():  # the time limit of the test bounds it
        time.sleep(0.01)


def test_another_model_proposes_as_soon_as_it_lies_there(
    follow: Callable[[float], Predictor], shelf: ModelShelf, told: io.StringIO
) -> None:
    predictor = follow(0.02)
    assert answers_by(predictor) == FIRST
    shelf.promote(SECOND)
    wait_until(lambda: answers_by(predictor) == SECOND)
    wait_until(lambda: f"Another model lies in {shelf.current}: it proposes from now on." in told.getvalue())


def test_damaged_model_is_told_and_the_one_before_goes_on(
    follow: Callable[[float], Predictor], shelf: ModelShelf, told: io.StringIO
) -> None:
    predictor = follow(0.02)
    (shelf.current / CURVES_FILE).write_bytes(b"torn")
    wait_until(lambda: "the model before goes on" in told.getvalue())
    assert answers_by(predictor) == FIRST
    shelf.put(FIRST, files_of("first"))  # sound again
    shelf.promote(SECOND)
    wait_until(lambda: answers_by(predictor) == SECOND)


def test_folder_that_it_may_not_enter_is_told_and_later_models_are_followed(
    follow: Callable[[float], Predictor], shelf: ModelShelf, told: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the thread that looks ended with a traceback, and nothing was followed any more."""
    predictor = follow(0.02)

    def locked(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as rights:
        rights.setattr("poolpilot.models.advisor.model.holds_learned_model", locked)
        shelf.promote(SECOND)
        wait_until(lambda: "Permission denied" in told.getvalue())
    assert answers_by(predictor) == FIRST
    shelf.roll_back("worse")
    shelf.put(FIRST, files_of("first"))
    wait_until(lambda: "Another model lies" in told.getvalue())


def test_nobody_looks_who_was_told_not_to(follow: Callable[[float], Predictor], shelf: ModelShelf) -> None:
    predictor = follow(0.0)
    shelf.promote(SECOND)
    time.sleep(0.2)
    assert answers_by(predictor) == FIRST


def test_model_that_is_damaged_at_first_ends_it(follow: Callable[[float], Predictor], shelf: ModelShelf) -> None:
    (shelf.current / CURVES_FILE).write_bytes(b"torn")
    with pytest.raises(ArtefactError, match="digest"):
        follow(10.0)
