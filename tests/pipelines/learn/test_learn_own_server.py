"""A run with a server of one's own: it is learned from beside the others, and whatever it does, the others go on."""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.pipelines.collect.counting_server import FIRST, CountingServer, opened
from tests.pipelines.learn.conftest import WORKLOADS

from poolpilot.errors import LostServerError, ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.collect import own_server
from poolpilot.pipelines.learn.learn import LearnReport, learn
from poolpilot.pipelines.learn.learn_settings import LearnSettings
from poolpilot.pipelines.learn.learning_journal import LearningJournal, LearningRun
from poolpilot.pipelines.learn.own_records import OwnRecords
from poolpilot.pipelines.learn.simulated_collection import SimulatedCollection

Run = Callable[..., LearnReport]

MINUTES = 5.0
"""Of which the own server gets the time for one sweep."""


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def run_own(run_learn: Run, tmp_path: Path, said: io.StringIO) -> Run:
    """Runs it in a folder of this test, with a quick base and quick simulated pools."""
    assert run_learn is not None
    given: dict[str, Any] = {"minutes": MINUTES, "out": tmp_path / "learned", "servers": ("simulated",), "cpus": 2}
    given |= {"track": False, "workloads": WORKLOADS, "margin": 1.0, "dsn": "h=db1", "execute": True}
    return lambda **flags: learn(LearnSettings.load(None, given | flags), Console(file=said, width=500))


@pytest.fixture
def collected(recorded: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """The simulated pools that a run of this test is to sweep are those that another run has swept."""
    monkeypatch.setattr(SimulatedCollection, "collected", lambda _: 0)


def placed(monkeypatch: pytest.MonkeyPatch, server: CountingServer) -> CountingServer:
    """Puts a server where the DSN leads."""
    monkeypatch.setattr(own_server, "mariadb_target", opened(server))
    return server


def stage(report: LearnReport) -> dict[str, Any]:
    """What the journal has kept of the own server."""
    run = LearningRun.model_validate_json((report.out / "learning.json").read_text(encoding="utf-8"))
    result = run.stages["own 1"].result
    assert result is not None
    return result


@pytest.mark.usefixtures("collected")
def test_it_is_learned_from_and_judged_by_the_others(
    run_own: Run, monkeypatch: pytest.MonkeyPatch, small_library: ResponseCurves
) -> None:
    server = placed(monkeypatch, CountingServer())
    report = run_own()
    assert (report.promoted, server.tuple_in_force()) == (True, FIRST)
    (row,) = report.rounds
    assert row["own_curves"] == 7
    assert row["curves"] == 7 + len(small_library.curves)
    assert [one["workloads"] for one in row["coverage"] if one["server"] == "own"] == [1]
    assert [sentence.partition(":")[0] for sentence in row["in_words"]] == ["simulated"]
    (curve,) = [one for one in OwnRecords(report.out / "records").curves(small_library.grid) if "db1" in one.name]
    best = max(range(len(curve.log_worth)), key=curve.log_worth.__getitem__)
    assert curve.log_worth[best] > curve.log_worth[0]


@pytest.mark.usefixtures("collected")
def test_without_leave_it_is_only_said_what_would_be_set(
    run_own: Run, monkeypatch: pytest.MonkeyPatch, said: io.StringIO
) -> None:
    server = placed(monkeypatch, CountingServer())
    report = run_own(execute=False)
    assert (report.promoted, server.set) == (True, [])
    assert "not from your own server: nothing is set there without --execute" in said.getvalue()
    assert "On your own server: Would set 33 configurations" in said.getvalue()
    assert {one["server"] for one in report.rounds[0]["coverage"]} == {"simulated"}


def refusing(*_: object) -> AbstractContextManager[Any]:
    raise ServerError("db1:3306 refuses the account")


@pytest.mark.usefixtures("recorded")
def test_a_server_that_refuses_or_is_lost_is_left_out_with_the_reason_and_the_others_go_on(
    run_own: Run, monkeypatch: pytest.MonkeyPatch, said: io.StringIO
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(own_server, "mariadb_target", refusing)
        patch.setattr(SimulatedCollection, "collected", lambda _: 0)
        report = run_own()
    assert (report.promoted, stage(report)["reason"]) == (True, "db1:3306 refuses the account")
    assert report.not_brought_back is None
    assert "your own server is left out of this round: db1:3306 refuses the account" in said.getvalue()
    server = placed(monkeypatch, CountingServer(ends_at=(40, LostServerError("it is gone"))))
    report = run_own()
    assert (report.promoted, stage(report)["reason"], server.tuple_in_force()) == (True, "it is gone", FIRST)
    assert report.rounds[0]["own_curves"] == 12


class StuckServer(CountingServer):
    """Does not take its first configuration again."""

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        if self.set and pool_tuple == FIRST:
            raise ServerError("it refuses")
        return super().apply(pool_tuple)


@pytest.mark.usefixtures("collected")
def test_a_way_back_that_fails_is_no_refusal_and_is_carried_into_the_report(
    run_own: Run, monkeypatch: pytest.MonkeyPatch, said: io.StringIO
) -> None:
    """Before, it was told in passing as if the server had been left out, and the run ended as if all was well."""
    placed(monkeypatch, StuckServer())
    report = run_own()
    assert report.promoted
    assert report.not_brought_back is not None
    assert "could not be brought back: it refuses" in report.not_brought_back
    assert "your own server does not have its first configuration back: the initial configuration" in said.getvalue()


@pytest.mark.usefixtures("collected")
def test_one_that_cannot_be_looked_at_without_leave_ends_nothing(
    run_own: Run, monkeypatch: pytest.MonkeyPatch, said: io.StringIO
) -> None:
    monkeypatch.setattr(own_server, "mariadb_target", refusing)
    assert run_own(execute=False).promoted
    assert "your own server is not measured: db1:3306 refuses the account" in said.getvalue()


@pytest.mark.usefixtures("collected")
def test_stopped_in_a_sweep_it_goes_on_with_a_whole_one(run_own: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    server = placed(monkeypatch, CountingServer(ends_at=(40, KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        run_own()
    assert server.tuple_in_force() == FIRST
    with pytest.raises(SettingError, match=r"with other settings \(dsn h=db1, execute True\) was stopped"):
        run_own(dsn=None, execute=False)
    report = run_own()
    assert (report.promoted, report.rounds[0]["own_curves"]) == (True, 7)


@pytest.mark.usefixtures("collected")
def test_a_sweep_that_was_kept_before_the_stop_is_not_measured_again(
    run_own: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = placed(monkeypatch, CountingServer())
    original = LearningJournal.finish

    def stopped(journal: LearningJournal, name: str, result: dict[str, Any]) -> None:
        if name == "own 1":
            raise KeyboardInterrupt
        original(journal, name, result)

    with monkeypatch.context() as patch:
        patch.setattr(LearningJournal, "finish", stopped)
        with pytest.raises(KeyboardInterrupt):
            run_own()
    server.set.clear()
    assert run_own().rounds[0]["own_curves"] == 7
    assert server.set == []


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"dsn": "x=1"}, "the DSN part 'x' is unknown"),
        ({"dsn": None}, "--execute sets configurations on a server of yours: name it with --dsn"),
        ({"dsn": None, "procedure": "db.tune"}, "--procedure db.tune is of a server of yours: name it with --dsn"),
        ({"dsn": None, "defaults_file": Path("my.cnf")}, "--defaults-file my.cnf is of a server of yours"),
    ],
)
def test_options_that_lead_nowhere_are_refused_at_once(run_own: Run, flags: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        run_own(**flags)
