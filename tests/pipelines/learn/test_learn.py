"""A run leaves a folder that decides, goes on from wherever it was stopped, and puts nothing bad in force."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.pipelines.learn.conftest import FROM_RECORDS, learned_in, made_quick
from tests.pipelines.production.conftest import curves_named, files_of

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.errors import FeatureError, PoolPilotError, ServerError, SettingError, StoreError, TakenFolderError
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.learned_folder import CURVES_FILE
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings
from poolpilot.pipelines.calibrate.fitted_machine import FittedMachine, FittedOn
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.learn.learn import LearnReport
from poolpilot.pipelines.learn.learned_files import EVALUATION_FILE
from poolpilot.pipelines.learn.learning_journal import NAME, LearningJournal
from poolpilot.pipelines.learn.machine_check import MachineCheck
from poolpilot.pipelines.learn.own_records import OWN, OwnRecords
from poolpilot.pipelines.learn.simulated_collection import SimulatedCollection
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.store.records import StagingStore

Run = Callable[..., LearnReport]


def test_leaves_a_folder_that_decides(uninterrupted: LearnReport, small_library: ResponseCurves) -> None:
    report = uninterrupted
    assert (report.promoted, report.objections) == (True, ())
    assert report.in_force == report.digest != small_library.digest
    bandit = Model.load(report.out / "current", "mariadb", to_try=True)
    assert bandit.curves is not None
    own = [curve for curve in bandit.curves.curves if curve.family.startswith(OWN)]
    assert len(own) == 6
    assert {curve.cpus for curve in own} == {2}
    assert {curve.family for curve in own} == {f"{OWN}0", f"{OWN}1"}, "five weigh as much as a family that ships"
    assert bandit.curves.curves[: len(small_library.curves)] == small_library.curves
    (row,) = report.rounds
    assert row["own_curves"] == 6
    assert "3 held-out workloads of 3 families" in row["in_words"][0]
    assert report.folder is not None
    assert "poolpilot tune DSN --model FOLDER" in (report.folder / "README.md").read_text(encoding="utf-8")


def raises_once(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, calls: int = 1) -> None:
    """The user presses Ctrl-C at the n-th call of something."""
    original, count = getattr(place, name), 0

    def pressed(*given: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count == calls:
            raise KeyboardInterrupt
        return original(*given, **named)

    monkeypatch.setattr(place, name, pressed)


COLLECTING = {
    "check": (MachineCheck, "of", 1),
    "first batch": (SimulatedCollection, "_taken_over", 1),
    "second batch": (SimulatedCollection, "_taken_over", 2),
}
COLLECTED = (OwnRecords, "coverage", 1)
LEARNING = {
    "curves": (OwnRecords, "curves", 1),
    "judging": (learn_module, "judge", 2),
    "gate": (learn_module, "objections_to_learned", 1),
    "shelf": (ModelShelf, "put", 1),
    "promotion": (ModelShelf, "promote", 1),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, small_library: ResponseCurves) -> Path:
    """Folder of a run that was stopped three times while it collected and a fourth time when it had collected all."""
    out = tmp_path_factory.mktemp("stopped") / "learned"
    for stage in (*COLLECTING.values(), COLLECTED):
        with pytest.MonkeyPatch.context() as patch:
            made_quick(patch, small_library)
            raises_once(patch, *stage)
            with pytest.raises(KeyboardInterrupt):
                learned_in(out)
    return out


@pytest.fixture
def collected(stopped: Path, tmp_path: Path) -> None:
    """The run of this test was stopped when it had collected all."""
    out = tmp_path / "learned"
    shutil.copytree(stopped, out, symlinks=True)
    journal = out / NAME
    journal.write_text(journal.read_text(encoding="utf-8").replace(str(stopped), str(out)), encoding="utf-8")


def check_comes_to_the_same(run_learn: Run, uninterrupted: LearnReport) -> None:
    report = run_learn()
    assert (report.digest, report.promoted) == (uninterrupted.digest, True)
    assert len(report.rounds) == 1


@pytest.mark.usefixtures("collected")
def test_stopped_again_and_again_while_it_collects_it_comes_to_the_same(
    run_learn: Run, uninterrupted: LearnReport
) -> None:
    check_comes_to_the_same(run_learn, uninterrupted)


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("stage", LEARNING)
def test_stopped_anywhere_later_it_comes_to_the_same(
    run_learn: Run, uninterrupted: LearnReport, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    with monkeypatch.context() as patch:
        raises_once(patch, *LEARNING[stage])
        with pytest.raises(KeyboardInterrupt):
            run_learn()
    check_comes_to_the_same(run_learn, uninterrupted)


@pytest.mark.usefixtures("collected")
def test_what_was_rolled_back_since_the_gate_is_not_put_in_force_again(
    run_learn: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        raises_once(patch, LearningJournal, "close")
        with pytest.raises(KeyboardInterrupt):
            run_learn()
    shelf = ModelShelf(run_learn(minutes=0.0).out)
    went_back_to = shelf.roll_back("it lost")
    report = run_learn()
    assert (report.promoted, report.in_force) == (False, went_back_to)
    assert "was rolled back in production before" in report.objections[-1]


@pytest.mark.usefixtures("collected")
def test_what_is_finished_is_not_done_again(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        raises_once(patch, learn_module, "objections_to_learned")
        with pytest.raises(KeyboardInterrupt):
            run_learn()
        patch.setattr(SimulatedCollection, "run", lambda *_: pytest.fail("collected twice"))
        assert run_learn().promoted


@pytest.mark.usefixtures("collected")
def test_a_stopped_run_wants_its_settings_again_or_is_given_up(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        raises_once(patch, learn_module, "judge")
        with pytest.raises(KeyboardInterrupt):
            run_learn()
    with pytest.raises(SettingError, match=r"with other settings \(seed 1\) was stopped in .*--anew"):
        run_learn(seed=2)
    assert run_learn(seed=2, anew=True).promoted


def test_a_second_run_adds_to_the_records_of_the_first(
    run_learn: Run, uninterrupted: LearnReport, tmp_path: Path
) -> None:
    first = uninterrupted
    shutil.copytree(first.out, tmp_path / "learned", symlinks=True)
    second = run_learn()
    assert second.rounds[0]["own_curves"] == 2 * first.rounds[0]["own_curves"]
    assert second.digest != first.digest
    assert ModelShelf(second.out).before(second.digest or "") == first.digest


def upside_down(base: ResponseCurves, own: list[ResponseCurve]) -> ResponseCurves:
    """A library in which the worst of every workload is the best."""
    curves = [curve.model_copy(update={"log_worth": tuple(-10.0 * one for one in curve.log_worth)}) for curve in own]
    return ResponseCurves(grid=base.grid, source="upside down", curves=tuple(curves))


def test_a_bad_model_is_never_put_in_force(
    run_learn: Run,
    uninterrupted: LearnReport,
    small_library: ResponseCurves,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    good = uninterrupted
    shutil.copytree(good.out, tmp_path / "learned", symlinks=True)
    monkeypatch.setattr(learn_module, "joined_curves", upside_down)
    bad = run_learn(margin=0.01, **FROM_RECORDS)
    assert not bad.promoted
    assert bad.in_force == good.digest != bad.digest
    assert "on simulated its mean regret is" in bad.objections[0]
    assert "of what ships" in bad.objections[0]
    assert "of what is in force" in bad.objections[1]
    ledger = ModelShelf(bad.out).ledger()
    assert [(line.action, line.digest) for line in ledger] == [
        ("promoted", small_library.digest),
        ("promoted", good.digest),
        ("refused", bad.digest),
    ]


@pytest.mark.usefixtures("recorded")
def test_what_passes_is_left_on_the_shelf_where_nothing_is_to_be_promoted(
    run_learn: Run, small_library: ResponseCurves
) -> None:
    report = run_learn(promote=False, **FROM_RECORDS)
    assert (report.promoted, report.objections, report.in_force) == (False, (), small_library.digest)
    assert report.digest is not None
    assert ModelShelf(report.out).model(report.digest).curves.digest == report.digest


@pytest.mark.usefixtures("recorded")
def test_gate_of_a_run_that_was_stopped_is_not_believed(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, what had passed by another margin, or beside another model, was put in force when the run went on."""
    monkeypatch.setattr(learn_module, "joined_curves", upside_down)
    with monkeypatch.context() as patch:
        raises_once(patch, learn_module, "log_learned")
        with pytest.raises(KeyboardInterrupt):
            run_learn(margin=9.0, **FROM_RECORDS)
    report = run_learn(margin=0.01, **FROM_RECORDS)
    assert not report.promoted
    assert "of what ships" in report.objections[0]


def objections_in(report: LearnReport) -> list[str]:
    """What the folder of what was learned says against it; the folder is sound."""
    assert report.digest is not None
    folder = ModelShelf(report.out).model(report.digest).folder
    return list(json.loads((folder / EVALUATION_FILE).read_text(encoding="utf-8"))["objections"])


@pytest.mark.usefixtures("recorded")
def test_evaluation_of_a_model_is_that_of_its_latest_judgement(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, what was refused first and passed later listed the objections of before, also in production."""
    monkeypatch.setattr(learn_module, "joined_curves", upside_down)
    refused = run_learn(margin=0.01, **FROM_RECORDS)
    assert objections_in(refused) == list(refused.objections) != []
    passed = run_learn(margin=9.0, **FROM_RECORDS)
    assert (passed.digest, passed.promoted, objections_in(passed)) == (refused.digest, True, [])
    again = run_learn(margin=0.01, **FROM_RECORDS)
    assert (again.promoted, again.in_force) == (False, passed.digest)
    assert objections_in(again) == list(again.objections) != [], "of the model in force, too"


def test_evaluation_of_what_ships_is_none_of_what_was_learned(run_learn: Run) -> None:
    report = run_learn(**FROM_RECORDS)
    assert report.folder == (report.out / "current").resolve()
    evaluation = json.loads((report.out / "current" / EVALUATION_FILE).read_text(encoding="utf-8"))
    assert evaluation == {"source": "what ships"}


def test_space_is_looked_for_where_the_records_go(
    run_learn: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before, the disk of --out was looked at alone, and that of --store ran full in mid-collection."""
    store = tmp_path / "elsewhere"
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=0 if place == store else 2**50))
    with pytest.raises(SettingError, match=r"elsewhere, where records go, has 0 MB free .* with --store"):
        run_learn(store=store)


def test_what_ships_takes_the_place_of_a_model_in_force_that_cannot_be_read(
    run_learn: Run, small_library: ResponseCurves, tmp_path: Path
) -> None:
    """Before, every `poolpilot learn` ended with the damage, also one that would have made a better model."""
    shelf = ModelShelf(tmp_path / "learned")
    other = curves_named("other")
    shelf.put(other.digest, files_of("other"))
    shelf.promote(other.digest)
    (shelf.current / CURVES_FILE).write_bytes(b"damaged")
    assert run_learn(minutes=0.0).in_force == small_library.digest
    in_force = shelf.in_force()
    assert in_force is not None
    assert in_force.curves.digest == small_library.digest


def test_records_that_another_run_adds_to_are_left_to_it(run_learn: Run, tmp_path: Path) -> None:
    """Before, two runs of different --out with the same --store wrote to it at the same time."""
    with locked_folder(tmp_path / "shared", "learns"), pytest.raises(TakenFolderError, match="another process learns"):
        run_learn(minutes=0.0, store=tmp_path / "shared")
    assert run_learn(minutes=0.0, store=tmp_path / "shared").in_force
    assert run_learn(minutes=0.0, store=tmp_path / "learned").in_force, "its own folder is locked once"


def test_nothing_is_learned_from_nothing(run_learn: Run, tmp_path: Path) -> None:
    report = run_learn(minutes=1e-9, workloads=None)
    assert not report.promoted
    assert any("nothing was learned" in objection for objection in report.objections)
    assert any("judged on 0 held-out workloads" in objection for objection in report.objections)
    assert report.out == tmp_path / "learned"


def test_no_minutes_learn_nothing_and_leave_what_ships_in_force(run_learn: Run, small_library: ResponseCurves) -> None:
    report = run_learn(minutes=0.0)
    assert (report.rounds, report.folder, report.in_force) == ([], None, small_library.digest)


def live_records(monkeypatch: pytest.MonkeyPatch, swept: Mapping[str, int]) -> None:
    """So many live workloads of each split are complete, and none is learned from or judged by."""

    def without_sweeps(*_: object) -> Iterator[Any]:
        return iter(())

    rows = [{"server": "native", "split": split, "workloads": number} for split, number in swept.items()]
    rows.append({"server": "simulated", "split": "train", "workloads": 9})
    monkeypatch.setattr(learn_module, "collect_live", lambda *_: None)
    monkeypatch.setattr(OwnRecords, "coverage", lambda _: rows)
    monkeypatch.setattr(OwnRecords, "sweeps", without_sweeps)


def calibration_of(
    monkeypatch: pytest.MonkeyPatch, run_learn: Run, swept: Mapping[str, int], error: PoolPilotError
) -> tuple[list[CalibrateSettings], list[str]]:
    """The settings that the simulator was calibrated with in a run on live workloads, and what was said of it."""
    given: list[CalibrateSettings] = []
    reasons: list[str] = []

    def failing(settings: CalibrateSettings, _: object) -> None:
        given.append(settings)
        raise error

    def finished(journal: LearningJournal, name: str, result: dict[str, Any]) -> None:
        reasons.extend([result["reason"]] if name == "calibration 1" else [])
        original(journal, name, result)

    original = LearningJournal.finish
    live_records(monkeypatch, swept)
    monkeypatch.setattr(learn_module, "calibrate", failing)
    monkeypatch.setattr(LearningJournal, "finish", finished)
    run_learn(servers=("native",))
    return given, reasons


@pytest.mark.parametrize("error", [StoreError("torn"), ServerError("it stands"), FeatureError("classes", "it lacks")])
def test_the_simulator_is_fitted_to_what_is_learned_from_and_no_failure_ends_the_run(
    run_learn: Run, monkeypatch: pytest.MonkeyPatch, error: PoolPilotError
) -> None:
    given, reasons = calibration_of(monkeypatch, run_learn, {"train": 4, "validation": 2}, error)
    assert [settings.splits for settings in given] == [("train",)]
    assert reasons == [str(error)]


def test_workloads_to_judge_by_are_not_counted_as_something_to_fit_to(
    run_learn: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, reasons = calibration_of(monkeypatch, run_learn, {"train": 3, "validation": 9}, StoreError("asked for"))
    assert given == []
    assert reasons == ["3 live workloads to learn from are complete and 4 are needed"]


FITTED = CALIBRATED.model_copy(update={"overhead_us": 77.0})


def fitted(error_median: float) -> Callable[..., SimpleNamespace]:
    """A calibration that comes to `FITTED`, which errs by so much where the one that ships errs by 20 %."""

    def report(error: float) -> SimpleNamespace:
        return SimpleNamespace(summary=lambda: {"error_median": error})

    found = SimpleNamespace(machine=FITTED, stopped=False, judged=report(error_median), judged_before=report(0.2))
    return lambda *_: found


@pytest.fixture
def simulated_on(monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    """The machines that pools are simulated on, one for each round; nothing is."""
    machines: list[Machine] = []
    monkeypatch.setattr(SimulatedCollection, "run", lambda one, *_: machines.append(one.scenarios.machine))
    return machines


@pytest.mark.parametrize(("error_median", "machine"), [(0.1, FITTED), (0.3, CALIBRATED)])
def test_machine_that_was_fitted_is_that_of_the_next_run(
    run_learn: Run,
    monkeypatch: pytest.MonkeyPatch,
    simulated_on: list[Machine],
    error_median: float,
    machine: Machine,
) -> None:
    """Before, a later run that fitted none simulated the one that ships; one that errs by more is still not taken."""
    with monkeypatch.context() as patch:
        live_records(patch, {"train": 4})
        patch.setattr(learn_module, "calibrate", fitted(error_median))
        run_learn(servers=("native",))
    run_learn()
    run_learn(cpus=4)
    assert simulated_on == [machine, CALIBRATED], "of four processors nothing was fitted"


def test_run_that_goes_on_keeps_the_machine_that_it_began_with(
    run_learn: Run, monkeypatch: pytest.MonkeyPatch, simulated_on: list[Machine], tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        raises_once(patch, MachineCheck, "of")
        with pytest.raises(KeyboardInterrupt):
            run_learn()
    FittedMachine(machine=FITTED, fitted_on=FittedOn.here(2)).keep(tmp_path / "learned")
    run_learn()
    run_learn()
    assert simulated_on == [CALIBRATED, FITTED]


@pytest.mark.usefixtures("recorded")
def test_records_that_nothing_may_learn_from_end_it_before_anything_is_collected(
    run_learn: Run, tmp_path: Path
) -> None:
    out = tmp_path / "learned"
    windows = StagingStore(OwnRecords(out / "records").store("simulated")).windows
    windows.append(windows.scan().slice(3, 1).to_pylist(), "again")
    with pytest.raises(StoreError, match=r"repeats .*: remove one of them"):
        run_learn()
