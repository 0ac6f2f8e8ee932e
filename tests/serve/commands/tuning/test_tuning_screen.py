"""The screen says what the climber does and why, with and without a terminal."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from poolpilot.agent.controllers.warm_start import WarmStart, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.models.advice.prediction import ProbingPredictor
from poolpilot.native_pool import SpectralClimber
from poolpilot.serve.commands.tuning.sparkline import ASCII_LEVELS, BLOCKS
from poolpilot.serve.commands.tuning.tuning_screen import SHOWN_DECISIONS, SHOWN_WINDOWS, TuningScreen

ARCH = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


def console(**options: object) -> Console:
    return Console(file=io.StringIO(), width=100, **options)  # type: ignore[arg-type]


def climbing_of(server: CurveServer) -> ClimbController:
    climber = spectral_climber(ClimbSettings(), server.knobs)
    return ClimbController(climber, server.tuple_in_force(), Objective())


def shown(on: Console, seconds: float = 30.0) -> tuple[str, SpectralClimber]:
    """What the screen leaves behind after a climb on a curve."""
    server = CurveServer(ARCH, cpus=2, noise=0.05)
    controller = climbing_of(server)
    screen = TuningScreen("A climb", on, "goodput", controller)
    with screen.shown():
        tune(server, controller, Objective(), horizon_s=seconds, on_step=screen.add)
    assert isinstance(on.file, io.StringIO)
    assert isinstance(controller.climber, SpectralClimber)
    return on.file.getvalue(), controller.climber


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
    server, objective = CurveServer(ARCH, cpus=2), Objective()
    climbing = KnobClimbController(ClimbSettings(), server.knobs, server.tuple_in_force(), objective)
    screen = TuningScreen("A climb", on, "goodput", climbing)
    with screen.shown():
        tune(server, climbing, objective, horizon_s=12.0, on_step=screen.add)
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


def test_before_the_first_window_it_says_that_it_observes(tellable: Callable[..., ProbingPredictor]) -> None:
    on, server = console(), CurveServer(ARCH, cpus=2)
    climb = size_climb(ClimbSettings(), server.knobs, Objective())
    warm_start = WarmStart(tellable(), server.knobs, Objective(), climb)
    on.print(TuningScreen("A climb", on, "goodput", warm_start).view())
    assert isinstance(on.file, io.StringIO)
    assert "observing" in on.file.getvalue()


def test_terminal_without_unicode_gets_other_bars() -> None:
    on = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True), width=100)
    server = CurveServer(ARCH, cpus=2)
    controller = climbing_of(server)
    screen = TuningScreen("A climb", on, "goodput", controller)
    with screen.shown():
        tune(server, controller, Objective(), horizon_s=5.0, on_step=screen.add)
    on.file.seek(0)
    assert ASCII_LEVELS[-1] in on.file.read()


@pytest.mark.parametrize("sentence", ["setting 'x': it is [3]", "read again"])
def test_news_of_the_settings_is_shown_as_it_is(sentence: str) -> None:
    on = console()
    screen = TuningScreen("A climb", on, "goodput", climbing_of(CurveServer(ARCH, cpus=2)))
    screen.tell(sentence)
    on.print(screen.view())
    assert isinstance(on.file, io.StringIO)
    assert sentence in on.file.getvalue()
