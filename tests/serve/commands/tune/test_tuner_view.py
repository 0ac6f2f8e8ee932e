"""The screen of `poolpilot tune --watch`: what is on it, and lines where there is no terminal."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console
from tests.serve.tuner.conftest import Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen
from poolpilot.serve.commands.tune.tuner_view import SHOWN_DECISIONS, SHOWN_WINDOWS, TunerView
from poolpilot.serve.tuner.machine.decision import Mode, State


def console_of(*, terminal: bool, encoding: str = "utf-8") -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(
        file=file, force_terminal=terminal, width=100, height=60, markup=False, emoji=False, color_system=None
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


def followed(drive: Drive, screen: TunerScreen, windows: int) -> None:
    for _ in range(windows):
        decision = drive.turn()
        screen.add(drive.looks[-1], decision)


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
    look, decision = tuner.looks[-1], tuner.decisions[-1]
    assert look.reading is not None
    assert f"{decision.state}" in text
    assert f"{look.in_force}, verified {decision.verified}" in text
    bars = next(line for line in text.splitlines() if line.startswith("throughput"))
    assert bars.rstrip().endswith(f" {look.reading.throughput_per_s:.0f}/s")
    assert sum(bars.count(each) for each in "▁▂▃▄▅▆▇█") == 40
    assert f"{view.entered[State.TRY]}, taken back {view.entered[State.ROLL_BACK]}; 40 windows" in text


def test_it_keeps_no_more_than_the_screen_holds(tuner: Drive) -> None:
    view = TunerView(console_of(terminal=True), "db1")
    with view.shown():
        followed(tuner, view, 300)
        lines = shown(view).splitlines()
    assert sum(each in "▁▂▃▄▅▆▇█" for line in lines for each in line) == SHOWN_WINDOWS
    assert sum(line[2:3] == ":" for line in lines) == SHOWN_DECISIONS


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
    assert f"taken back {view.entered[State.ROLL_BACK]}" in shown(view)


def test_terminal_without_unicode_gets_bars_of_ascii(tuner: Drive) -> None:
    view = TunerView(console_of(terminal=True, encoding="ascii"), "db1")
    with view.shown():
        followed(tuner, view, 20)
    assert shown(view).isascii()


def test_without_a_terminal_it_prints_the_lines_of_every_run() -> None:
    make: tuple[Callable[[Console], TunerScreen], ...] = (TunerScreen, lambda console: TunerView(console, "db1"))
    texts = []
    for each in make:
        console = console_of(terminal=False)
        screen = each(console)
        drive = Drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03)
        with screen.shown():
            followed(drive, screen, 60)
        texts.append(text_of(console))
    assert texts[0] == texts[1]
    assert "is verified; it replaces" in texts[0]
