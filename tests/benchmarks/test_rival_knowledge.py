"""What is held out is in nothing that methods know: neither its family nor a curve of its composition or machine."""

from dataclasses import dataclass

import pytest

from poolpilot.agent.baselines.ratio_trees import RatioTrees
from poolpilot.env.workloads.families import FAMILIES
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratio_names
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from rivals.knowledge import Knowledge, with_compositions

GRID = MachineGrid(sizes=(1, 2), multiples=(), oversubscribes=(3,), timer_intervals_ms=(500,))


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    family: str
    composition: str
    held_out_cpus: int | None = None


def curve(family: str, composition: str, cpus: int = 1) -> ResponseCurve:
    return ResponseCurve(
        name=f"{family} of {composition}",
        family=family,
        cpus=cpus,
        connections=4,
        composition=composition,
        log_worth=(0.0, 1.0),
        ratios=((0.5,) * len(ratio_names()),) * len(GRID.reference_columns),
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


SIZED_CURVES = CURVES.model_copy(
    update={
        "curves": (
            curve("composed", "silent", 24),
            curve("reports", "told", 24),
            curve("composed", "told", 25),
            curve("sleeping_mix", "told", 25),
        )
    }
)
ON_24, ON_25 = Case("e", "simulated", "composed", "silent", 24), Case("f", "simulated", "composed", "silent", 25)


@pytest.fixture(autouse=True)
def learned(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The curves that trees were fitted to, fit by fit; nothing is learned."""
    fits: list[list[str]] = []

    def fit(curves: ResponseCurves, _: object) -> None:
        fits.append([one.name for one in curves.curves])

    monkeypatch.setattr(RatioTrees, "fit", fit)
    return fits


def known(case: Case) -> list[str]:
    knowledge = Knowledge(CURVES, CASES, together=["native, held out"])
    return [one.name for one in knowledge.of(case).curves.curves]


def test_one_family_is_out_with_its_twin_and_its_composition() -> None:
    assert known(CASES[0]) == ["reports of cpu | cpu | cpu", "composed of told"]
    assert "silent_single of silent" in known(CASES[1])


def test_families_that_are_held_out_together_are_all_out() -> None:
    assert known(CASES[2]) == known(CASES[3]) == ["composed of told"]


def test_every_machine_with_as_many_processors_is_out_for_curves_and_trees(learned: list[list[str]]) -> None:
    knowledge = Knowledge(SIZED_CURVES, [ON_24, ON_25])
    left = [[one.name for one in knowledge.of(case).curves.curves] for case in (ON_24, ON_25)]
    assert left == learned == [["sleeping_mix of told"], ["reports of told"]]


def test_what_is_known_without_a_machine_is_made_once(learned: list[list[str]]) -> None:
    knowledge = Knowledge(SIZED_CURVES, [ON_24, ON_25])
    assert knowledge.of(ON_24) is knowledge.of(ON_24)
    assert len(learned) == 1


def test_recorded_curves_say_what_they_are_composed_of_too() -> None:
    curves = with_compositions(load_curves())
    unnamed = {one.family for one in curves.curves if not one.composition}
    assert not unnamed & set(FAMILIES)
    case = Case("a", "simulated", "sim_io_bound", "silent")
    left = Knowledge(curves, [case]).of(case).curves
    assert "silent" in {one.composition for one in curves.curves if one.family == "silent_single"}
    assert "silent" not in {one.composition for one in left.curves}
