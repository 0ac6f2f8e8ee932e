"""A model that takes the place of another is loaded once, when it is whole; one that cannot be is not tried again."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from poolpilot.serve.service.watch.model_watch import ModelWatch

Changed = Callable[[Path], None]


class Renewed:
    """Counts how often all was loaded again, whether that succeeds or not."""

    def __init__(self) -> None:
        self.times = 0
        self.often = threading.Event()

    def __call__(self) -> None:
        self.times += 1
        self.often.set()


@pytest.fixture
def renewed() -> Renewed:
    return Renewed()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """Two models, and a link to the first."""
    for name in ("first", "second"):
        (tmp_path / name / "network").mkdir(parents=True)
        (tmp_path / name / "network" / "weights").write_text(name)
    (tmp_path / "current").symlink_to("first")
    return tmp_path


def point_to_second(shelf: Path) -> None:
    (shelf / "new").symlink_to("second")
    (shelf / "new").rename(shelf / "current")


def write_over(shelf: Path) -> None:
    (shelf / "first" / "network" / "weights").write_text("something else")


def put_another(shelf: Path) -> None:
    shutil.rmtree(shelf / "first")
    (shelf / "second").rename(shelf / "first")


@pytest.mark.parametrize("change", [point_to_second, write_over, put_another])
def test_another_model_is_loaded_once(shelf: Path, renewed: Renewed, change: Changed) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    for _ in range(3):
        watch.check(renewed)
    assert renewed.times == 0
    change(shelf)
    for _ in range(4):
        watch.check(renewed)
    assert renewed.times == 1


def test_what_changes_between_making_the_watch_and_the_first_look_is_loaded(shelf: Path, renewed: Renewed) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    point_to_second(shelf)
    watch.check(renewed)
    watch.check(renewed)
    assert renewed.times == 1


def test_model_that_is_being_copied_is_left_alone_until_it_is_whole(shelf: Path, renewed: Renewed) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    (shelf / "third").mkdir()
    (shelf / "new").symlink_to("third")
    (shelf / "new").rename(shelf / "current")
    for piece in range(4):
        with (shelf / "third" / "curves").open("a") as file:
            file.write(f"piece {piece}")
        watch.check(renewed)
    assert renewed.times == 0
    watch.check(renewed)
    assert renewed.times == 1


def test_link_that_leads_nowhere_is_no_model(shelf: Path, renewed: Renewed) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    (shelf / "first").rename(shelf / "away")
    for _ in range(3):
        watch.check(renewed)
    (shelf / "away").rename(shelf / "first")
    for _ in range(3):
        watch.check(renewed)
    assert renewed.times == 0, "the same one is there again"


def test_links_in_a_circle_are_no_model_and_end_nothing(shelf: Path, renewed: Renewed) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    (shelf / "current").unlink()
    (shelf / "current").symlink_to("current")
    for _ in range(3):
        watch.check(renewed)
    assert renewed.times == 0


def test_one_that_cannot_be_loaded_is_tried_again_when_something_of_it_has_changed(
    shelf: Path, renewed: Renewed
) -> None:
    watch = ModelWatch(shelf / "current", 10.0)
    point_to_second(shelf)
    for _ in range(5):
        watch.check(renewed)
    assert renewed.times == 1
    (shelf / "second" / "network" / "weights").write_text("mended at last")
    for _ in range(5):
        watch.check(renewed)
    assert renewed.times == 2


def test_it_looks_by_itself_until_it_is_ended(shelf: Path, renewed: Renewed) -> None:
    watch = ModelWatch(shelf / "current", 0.01)
    watch.begin(renewed)
    point_to_second(shelf)
    assert renewed.often.wait(30.0)
    watch.end()


@pytest.mark.parametrize(("named", "every_s"), [(False, 10.0), (True, 0.0)], ids=["what ships", "switched off"])
def test_nothing_is_looked_at_where_nobody_asks_for_it(
    shelf: Path, renewed: Renewed, named: bool, every_s: float
) -> None:
    threads = threading.active_count()
    watch = ModelWatch(shelf / "current" if named else None, every_s)
    watch.begin(renewed)
    assert threading.active_count() == threads
    point_to_second(shelf)
    watch.check(renewed)
    watch.check(renewed)
    assert renewed.times == 0
