"""The screen of `poolpilot tune --watch`: what is on it, and lines where there is no terminal."""

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console
from tests.serve.tuner.conftest import Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen, summary
from poolpilot.serve.commands.tune.tuner_view import SHOWN_DECISIONS, SHOWN_WINDOWS, TunerView
from poolpilot.serve.tuner.machine.decision import Mode, State


def console_of(*, terminal: bool, encoding: str = "utf-8", height: int = 60) -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(
        file=file, force_terminal=terminal, width=100, height=height, markup=False, emoji=False, color_system=None
    )


def text_of(console: Console) -> str:
    console.file.flush()
    console.file.seek(0)
    return console.file.read()


def shown(view: TunerView) -> str:
    console = Console(file=io.StringIO(), width=100, markup=False, emoji=False, color_system=None)
    console.print(view.view())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def followed(drive: Drive, screen: TunerScreen, windows: int, **changes: object) -> None:
    for _ in range(windows):
        decision = drive.turn(**changes)
        screen.add(drive.observations[-1], decision)


@pytest.fixture(autouse=True)
def _terminal_can_be_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def tuner() -> Drive:
    return Drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03)


def test_before_the_first_window_it_says_so() -> None:
    view = TunerView(console_of(terminal=True), "[db1] :smile:")
    assert shown(view).splitlines()[0].rstrip() == "[db1] :smile:"
    assert "first window is being measured" in shown(view)


def test_it_shows_state_configuration_throughput_and_decisions(tuner: Drive) -> None:
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        followed(tuner, view, 40)
        text = shown(view)
    observation, decision = tuner.observations[-1], tuner.decisions[-1]
    assert observation.reading is not None
    assert f"{decision.state}" in text
    assert f"{observation.in_force}, incumbent {decision.incumbent}" in text
    bars = next(line for line in text.splitlines() if line.startswith("throughput"))
    assert bars.rstrip().endswith(f" {observation.reading.throughput_per_s:.0f}/s")
    assert sum(bars.count(each) for each in "▁▂▃▄▅▆▇█") == 40
    assert f"{view.entered[State.TRIAL]}, rolled back {view.entered[State.ROLL_BACK]}; 40 windows" in text


def test_it_keeps_no_more_than_the_screen_holds(tuner: Drive) -> None:
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        followed(tuner, view, 300)
        lines = shown(view).splitlines()
    assert sum(each in "▁▂▃▄▅▆▇█" for line in lines for each in line) == SHOWN_WINDOWS
    assert sum(line[2:3] == ":" for line in lines) == SHOWN_DECISIONS


@pytest.mark.parametrize("height", [9, 12])
def test_small_screen_shows_the_newest_decisions(tuner: Drive, height: int) -> None:
    """Before, all of the last decisions were drawn, and the newest ones were cut off."""
    view = TunerView(console_of(terminal=True, height=height), "db1")
    with view.shown():
        followed(tuner, view, 60)
        lines = shown(view).splitlines()
        view.add(tuner.observations[-1], tuner.decision.model_copy(update={"reason": "told last"}))
        later = shown(view)
    told = [line for line in lines if line[2:3] == ":"]
    assert len(lines) <= height
    assert 0 < len(told) < SHOWN_DECISIONS
    assert later.rstrip().endswith("told last")
    assert len(later.splitlines()) <= height


def test_connection_that_is_lost_in_mid_try_is_no_try_taken_back(tuner: Drive) -> None:
    """Before, the way back was shown and counted as a trial that was found worse."""
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        while not view.entered[State.TRIAL]:
            followed(tuner, view, 1)
        followed(tuner, view, 1, in_force=None, reading=None)
        followed(tuner, view, 1)
        text = shown(view)
    assert tuner.decision.state is State.ROLL_BACK
    assert "1, rolled back 0" in text
    assert re.search(r"^state +connection lost", text, re.MULTILINE)
    came_of_it = summary(tuner.in_force, tuner.memory, view)
    assert (came_of_it["trials"], came_of_it["roll_backs"]) == (1, 0)


def test_what_goes_on_beside_the_pool_is_said_once(tuner: Drive) -> None:
    """Before, every window of a backup was said, since its reason says for how long that has gone on."""
    console = console_of(terminal=False)
    screen = TunerScreen(console)
    for seconds in (37, 42, 120):
        backup = Hindrance(f"session 12 of dump@db1 backs up: SELECT for {seconds} s")
        followed(tuner, screen, 1, hindrances=(backup,))
    assert text_of(console).count("backs up") == 1


def test_advice_is_shown() -> None:
    drive = Drive(rising, rules=rules(Mode.ADVISE), wanted=PoolTuple(16, 3, 10))
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        followed(drive, view, 30)
        assert "would try" in shown(view)


def test_roll_backs_are_counted() -> None:
    drive = Drive(falling, wanted=PoolTuple(16, 3, 500))
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        followed(drive, view, 200)
    assert view.entered[State.ROLL_BACK] >= 1
    assert f"rolled back {view.entered[State.ROLL_BACK]}" in shown(view)


def test_terminal_without_unicode_gets_bars_of_ascii(tuner: Drive) -> None:
    view = TunerView(console_of(terminal=True, encoding="ascii"), "db1")
    with view.shown():
        followed(tuner, view, 20)
    assert shown(view).isascii()


@pytest.mark.parametrize("terminal", [False, True])
def test_where_nothing_can_be_drawn_it_prints_the_lines_of_every_run(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    """A dumb terminal is one on which nothing can be drawn anew; before, nothing was said there until the end."""
    monkeypatch.setenv("TERM", "dumb")
    make: tuple[Callable[[Console], TunerScreen], ...] = (TunerScreen, lambda console: TunerView(console, "db1"))
    texts = []
    for each in make:
        console = console_of(terminal=terminal)
        screen = each(console)
        drive = Drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03)
        with screen.shown():
            followed(drive, screen, 60)
        texts.append(text_of(console))
    assert texts[0] == texts[1]
    assert "is verified; it replaces" in texts[0]
