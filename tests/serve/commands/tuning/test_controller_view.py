"""What is said of a climb: of the size alone, and of many knobs that are not measured yet, swing or are held."""

from io import StringIO

from rich.console import Console

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.serve.commands.tuning.controller_view import KnobsView, SizeView, view_of

ARCH = ((1, 100.0), (16, 1200.0), (32, 1300.0), (64, 600.0))


def climbing(seconds: float) -> KnobClimbController:
    server, objective = CurveServer(ARCH, cpus=4), Objective()
    names = ("pool_size", "oversubscribe")
    made = KnobClimbController(ClimbSettings(), server.knobs, server.tuple_in_force(), objective, names)
    tune(server, made, objective, horizon_s=seconds)
    return made


def rows(climbed: KnobClimbController) -> list[list[str]]:
    out = Console(file=StringIO(), width=100)
    out.print(*view_of(climbed).tables())
    assert isinstance(out.file, StringIO)
    return [line.split() for line in out.file.getvalue().splitlines()]


def test_knob_that_is_not_measured_has_dashes() -> None:
    head, size, oversubscribe = rows(climbing(0.1))
    assert head == ["knob", "value", "wave", "elasticity", "error"]
    assert (size[:2], oversubscribe[:2]) == (["pool_size", "4"], ["oversubscribe", "3"])
    assert size[-2:] == oversubscribe[-2:] == ["-", "-"]


def test_knob_that_swings_has_its_wave_and_its_elasticity() -> None:
    climbed = climbing(1.2)
    state = climbed.latest["knobs"]["pool_size"]
    assert state["ratio"] is not None
    assert rows(climbed)[1][2:4] == [f"{state['wave_low']}..{state['wave_high']}", f"{state['ratio']:+.3f}"]


def test_knob_that_is_held_has_no_wave() -> None:
    climbed = climbing(60.0)
    assert climbed.mode == "OPTIMIZED"
    assert [row[2:4] for row in rows(climbed)[1:]] == [["none,", "held"]] * 2


def test_decision_leads_to_the_middles_of_the_waves_or_to_a_size() -> None:
    view = view_of(climbing(0.1))
    assert isinstance(view, KnobsView)
    assert (view.line().sample, view.line().values) == (1, "(4, 3)")
    server = CurveServer(ARCH, cpus=4)
    climber = spectral_climber(ClimbSettings(), server.knobs)
    size = view_of(ClimbController(climber, server.tuple_in_force(), Objective()))
    assert isinstance(size, SizeView)
    assert (size.line().values, size.line().decision, size.tables()) == ("4", "start", [])
