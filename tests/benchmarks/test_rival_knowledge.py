"""What is held out is in nothing that methods know: neither its family nor a curve of its composition."""

from dataclasses import dataclass

from poolpilot.env.workloads.families import FAMILIES
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from rival_knowledge import Knowledge, with_compositions

GRID = MachineGrid(sizes=(1, 2), multiples=(), oversubscribes=(3,), timer_intervals_ms=(500,))


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    family: str
    composition: str


def curve(family: str, composition: str) -> ResponseCurve:
    return ResponseCurve(
        name=f"{family} of {composition}",
        family=family,
        cpus=1,
        connections=4,
        composition=composition,
        log_worth=(0.0, 1.0),
    )


CURVES = ResponseCurves(
    grid=GRID,
    source="test",
    curves=(
        curve("silent_single", "silent"),
        curve("twin_silent_single", "silent cpu"),
        curve("composed", "silent"),
        curve("reports", "cpu | cpu | cpu"),
        curve("composed", "told"),
    ),
)
CASES = (
    Case("a", "native", "silent_single", "silent"),
    Case("b", "native", "reports", "cpu | cpu | cpu"),
    Case("c", "native, held out", "silent_single", "silent"),
    Case("d", "native, held out", "reports", "cpu | cpu | cpu"),
)


def known(case: Case) -> list[str]:
    knowledge = Knowledge(CURVES, CASES, together=["native, held out"])
    return [one.name for one in knowledge.of(case).curves.curves]


def test_one_family_is_out_with_its_twin_and_its_composition() -> None:
    assert known(CASES[0]) == ["reports of cpu | cpu | cpu", "composed of told"]
    assert "silent_single of silent" in known(CASES[1])


def test_families_that_are_held_out_together_are_all_out() -> None:
    assert known(CASES[2]) == known(CASES[3]) == ["composed of told"]


def test_recorded_curves_say_what_they_are_composed_of_too() -> None:
    curves = with_compositions(load_curves())
    unnamed = {one.family for one in curves.curves if not one.composition}
    assert not unnamed & set(FAMILIES)
    case = Case("a", "simulated", "sim_io_bound", "silent")
    left = Knowledge(curves, [case]).of(case).curves
    assert "silent" in {one.composition for one in curves.curves if one.family == "silent_single"}
    assert "silent" not in {one.composition for one in left.curves}
