"""A library that knows the workloads loses less on their replay than one that has them upside down."""

import pytest

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.learn import replayed_regret
from poolpilot.pipelines.learn.learn_settings import Staged
from poolpilot.pipelines.learn.replayed_regret import as_rows, chosen, differences, judge
from poolpilot.pipelines.train.recorded_curves import curve_of_sweep

FAMILIES = ("page_faults", "hot_counter", "commit_path", "reports")


@pytest.fixture(scope="module")
def sweeps() -> list[tuple[Staged, WorkloadSweep]]:
    return [("native", sweep) for family in FAMILIES for sweep in sample_sweeps(family)]


def library(sweeps: list[tuple[Staged, WorkloadSweep]], sign: float) -> ResponseCurves:
    curves = [curve_of_sweep(sweep, MachineGrid()) for _, sweep in sweeps]
    turned = [one.model_copy(update={"log_worth": tuple(sign * worth for worth in one.log_worth)}) for one in curves]
    return ResponseCurves(grid=MachineGrid(), source="made for tests", curves=tuple(turned))


def test_who_knows_the_workloads_loses_less(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    knowing, fooled = judge(library(sweeps, 1.0), sweeps), judge(library(sweeps, -3.0), sweeps)
    (found,) = differences(knowing, fooled)
    assert found.mean < found.mean_before
    assert found.mean < 0.15
    assert (found.server, found.workloads, found.families) == ("native", 4, 4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.mean - found.mean_before < -0.3 < found.high  # four families show no more
    assert "4 held-out workloads of 4 families" in found.in_words()
    assert as_rows([found])[0]["mean"] == found.mean


def test_a_library_differs_from_itself_by_nothing(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    judged = judge(library(sweeps, 1.0), sweeps)
    assert judged == judge(library(sweeps, 1.0), sweeps)
    (found,) = differences(judged, judged)
    assert (found.mean - found.mean_before, found.low, found.high) == (0.0, 0.0, 0.0)


def test_two_families_have_no_interval_and_none_no_difference(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    judged = judge(library(sweeps, 1.0), sweeps[:2])
    (found,) = differences(judged, judged)
    assert (found.families, found.low, found.high) == (2, None, None)
    assert differences([], []) == []


def test_so_many_are_replayed_at_most_of_every_family_some(
    sweeps: list[tuple[Staged, WorkloadSweep]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replayed_regret, "MOST_WORKLOADS", 3)
    assert [sweep.family for _, sweep in chosen(sweeps)] == sorted(FAMILIES)[:3]
