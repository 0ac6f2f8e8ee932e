"""A library that knows the workloads loses less on their replay than one that has them upside down."""

from dataclasses import replace

import pytest

from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.learn import replayed_regret
from poolpilot.pipelines.learn.learn_settings import Staged
from poolpilot.pipelines.learn.replayed_regret import as_rows, chosen, differences, judge
from poolpilot.pipelines.store.recorded_curves import curve_of_sweep

FAMILIES = ("page_faults", "hot_counter", "commit_path", "reports")


@pytest.fixture(scope="module")
def sweeps() -> list[tuple[Staged, WorkloadSweep]]:
    return [("native", measured_again(sweep)) for family in FAMILIES for sweep in sample_sweeps(family)]


def measured_again(sweep: WorkloadSweep) -> WorkloadSweep:
    """The same, with what was measured afresh of its best tuple: what comes with the package lacks that."""
    return replace(sweep, again_values=sweep.entries[sweep.oracle_tuple.core].values)


def on(sweep: WorkloadSweep, cpus: int) -> WorkloadSweep:
    """The same as of another machine."""
    return replace(sweep, workload_id=f"{sweep.workload_id} on {cpus}", limits=replace(sweep.limits, processors=cpus))


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
    assert [sweep.family for _, sweep in chosen(sweeps, 2)] == sorted(FAMILIES)[:3]


def test_workloads_that_can_judge_nothing_are_left_out(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    """Before, one whose best tuple had been lucky once made every choice on it look many times better than the best."""
    server, sweep = sweeps[0]
    unrepeated = replace(sweep, again_values=tuple(value - 5.0 for value in sweep.again_values))
    assert chosen([(server, unrepeated), *sweeps[1:]], 2) == chosen(sweeps[1:], 2)


def test_what_breaks_a_limit_is_worth_no_more_than_the_default(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    """Before, a choice that starves a class counted with the goodput that it takes from it."""
    server, sweep = sweeps[0]
    default = sweep.limits.default_tuple()
    breaking = {core: replace(entry, feasible=core == default.core) for core, entry in sweep.entries.items()}
    (kept,) = judge(library(sweeps, 1.0), [(server, sweep)])
    (broken,) = judge(library(sweeps, 1.0), [(server, replace(sweep, entries=breaking))])
    assert kept.regret < 0.05
    assert broken.regret == pytest.approx(sweep.regret(default), abs=0.05)
    assert broken.regret > 0.3


def test_it_is_judged_by_machines_of_as_many_processors_where_there_are_some(
    sweeps: list[tuple[Staged, WorkloadSweep]],
) -> None:
    """Before, after another --cpus in the same folder, those of the machine of before were most of the judgement."""
    others = [(server, on(sweep, 16)) for server, sweep in sweeps]
    assert chosen([*sweeps, *others], 2) == chosen(sweeps, 2)
    assert chosen([*sweeps, *others], 16) == chosen(others, 16)
    assert len(chosen(sweeps, 16)) == len(sweeps), "else nothing could be judged"


def test_sweeps_of_mariadb_are_replayed_as_a_tuner_sees_them(sweeps: list[tuple[Staged, WorkloadSweep]]) -> None:
    """Before, the bandit was shown the clients' classes, which no tuner of a MariaDB in production sees."""
    ((_, seen),) = chosen([("mariadb", sweeps[0][1])], 2)
    assert not any(window.classes for entry in seen.entries.values() for window in entry.windows)
    assert seen.again_values == sweeps[0][1].again_values
    ((_, native),) = chosen(sweeps[:1], 2)
    assert any(window.classes for entry in native.entries.values() for window in entry.windows)
