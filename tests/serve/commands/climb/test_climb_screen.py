"""The screen says what the climber does and why, with and without a terminal."""

import io

import pytest
from rich.console import Console

from poolpilot.env.climbing.climb import ClimbController, run_climb
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.live_screen import SHOWN_WINDOWS
from poolpilot.env.tuning.sparkline import ASCII_LEVELS, BLOCKS
from poolpilot.native_pool import SpectralClimber
from poolpilot.serve.commands.climb.climb_screen import SHOWN_DECISIONS, ClimbScreen

ARCH = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


def console(**options: object) -> Console:
    return Console(file=io.StringIO(), width=100, **options)  # type: ignore[arg-type]


def shown(on: Console, seconds: float = 30.0) -> tuple[str, SpectralClimber]:
    """What the screen leaves behind after a climb on a curve."""
    server, screen, objective = (
        CurveServer(ARCH, cpus=2, noise=0.05),
        ClimbScreen("A climb", on, "goodput"),
        Objective(),
    )
    climber = spectral_climber(ClimbSettings(), server.knobs)
    with screen.shown():
        screen.follow(climber)
        controller = ClimbController(climber, server.tuple_in_force(), objective)
        run_climb(server, controller, climber.period_s, seconds, objective, screen.add)
    assert isinstance(on.file, io.StringIO)
    return on.file.getvalue(), climber


def test_screen_holds_mode_size_bracket_wave_price_reason_and_bars() -> None:
    text, climber = shown(console())
    latest = climber.latest
    for wanted in (
        "A climb",
        climber.mode,
        f"pool size  {latest['size']}",
        f"{latest['bracket_low']}..{latest['bracket_high']}",
        f"{latest['wave_low']}..{latest['wave_high']}",
        "0.01 %",
        latest["reason"],
        "p99",
    ):
        assert wanted in text
    assert max(sum(letter in BLOCKS for letter in line) for line in text.splitlines()) == SHOWN_WINDOWS


def test_screen_of_many_knobs_has_a_line_for_each() -> None:
    on = console()
    server, screen, objective = CurveServer(ARCH, cpus=2), ClimbScreen("A climb", on, "goodput"), Objective()
    climbing = KnobClimbController(ClimbSettings(), server.knobs, server.tuple_in_force(), objective)
    with screen.shown():
        screen.follow(climbing)
        run_climb(server, climbing, climbing.period_s, 12.0, objective, screen.add)
    assert isinstance(on.file, io.StringIO)
    text = on.file.getvalue()
    for wanted in ("A climb", "goodput", "elasticity", "around", *climbing.names, climbing.reason):
        assert wanted in text
    assert "bracket" not in text
    assert max(sum(letter in BLOCKS for letter in line) for line in text.splitlines()) == SHOWN_WINDOWS


def test_decisions_are_the_last_that_matter_and_holding_on_is_one_of_them() -> None:
    text, climber = shown(console(), seconds=60.0)
    history = text[text.index("sample") :].splitlines()[1:]
    assert len([line for line in history if line.strip()]) == SHOWN_DECISIONS
    assert sum("hold" in line.split() for line in history) == 1
    holds = [record["sample"] for record in climber.log() if record["decision"] == "hold"]
    assert f"{holds[0]} " in history[-1]


def test_without_a_terminal_it_is_printed_once() -> None:
    text, _ = shown(console())
    assert text.count("A climb") == 1
    assert "\x1b" not in text


def test_on_a_terminal_it_is_redrawn() -> None:
    text, _ = shown(console(force_terminal=True))
    assert text.count("A climb") > 1


def test_before_the_first_window_it_says_that_the_model_looks() -> None:
    on = console()
    on.print(ClimbScreen("A climb", on, "goodput").view())
    assert isinstance(on.file, io.StringIO)
    assert "looking" in on.file.getvalue()


def test_terminal_without_unicode_gets_other_bars() -> None:
    on = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True), width=100)
    screen = ClimbScreen("A climb", on, "goodput")
    server, objective = CurveServer(ARCH, cpus=2), Objective()
    climber = spectral_climber(ClimbSettings(), server.knobs)
    with screen.shown():
        controller = ClimbController(climber, server.tuple_in_force(), objective)
        run_climb(server, controller, climber.period_s, 5.0, objective, screen.add)
    on.file.seek(0)
    assert ASCII_LEVELS[-1] in on.file.read()


@pytest.mark.parametrize("sentence", ["setting 'x': it is [3]", "read again"])
def test_news_of_the_settings_is_shown_as_it_is(sentence: str) -> None:
    on = console()
    screen = ClimbScreen("A climb", on, "goodput")
    screen.tell(sentence)
    on.print(screen.view())
    assert isinstance(on.file, io.StringIO)
    assert sentence in on.file.getvalue()
