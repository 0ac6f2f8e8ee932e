"""Sweeps of a server of one's own: whole training workloads that are worth what was measured, and restoration."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.pipelines.collect.counting_server import BEST, FIRST, CountingServer, opened

from poolpilot.errors import LostServerError, PoolPilotError, ServerError, SettingError
from poolpilot.pipelines.collect import own_server
from poolpilot.pipelines.collect.own_server import OwnServer
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.records import StagingStore

QUIET = Console(file=io.StringIO())
TWICE_S = 300.0
"""Surely enough for two sweeps, and not for three."""


@pytest.fixture
def own(tmp_path: Path) -> OwnServer:
    return OwnServer("h=db1", None, None, None, tmp_path / "own")


def placed(monkeypatch: pytest.MonkeyPatch, server: CountingServer) -> CountingServer:
    """Puts a server where the DSN leads."""
    monkeypatch.setattr(own_server, "mariadb_target", opened(server))
    return server


def test_it_is_swept_as_often_as_there_is_time_and_has_its_configuration_back(
    monkeypatch: pytest.MonkeyPatch, own: OwnServer
) -> None:
    server = placed(monkeypatch, CountingServer())
    assert own.swept() == 0
    assert own.sweep_for(TWICE_S, 0, 1, QUIET) == own.swept() == 2
    assert server.tuple_in_force() == FIRST
    assert len({one.core for one in server.set}) == 33
    dataset = read_dataset(own.store, "train")
    assert ({one.family for one in dataset.sweeps}, dataset.unfinished) == ({"db1:3306"}, ())
    assert {one.oracle_tuple.pool_size for one in dataset.sweeps} == {BEST}
    assert {one.limits.cpus for one in dataset.sweeps} == {2}
    assert RecordCheck.of([CheckedStore(own.store)]).faults == []


def test_a_sweep_that_is_read_is_worth_what_was_measured(monkeypatch: pytest.MonkeyPatch, own: OwnServer) -> None:
    placed(monkeypatch, CountingServer())
    own.sweep_for(TWICE_S, 1, 1, QUIET)
    (sweep,) = read_dataset(own.store, "train").sweeps
    assert sweep.objective.signal == "time_in_system"
    rows = [row for row in StagingStore(own.store).window_rows() if row["round"] >= 0]
    measured = sorted(row["objective"] for row in rows)
    assert sorted(one for entry in sweep.entries.values() for one in entry.values) == pytest.approx(measured)


def test_what_is_done_is_not_done_again(monkeypatch: pytest.MonkeyPatch, own: OwnServer) -> None:
    server = placed(monkeypatch, CountingServer())
    assert [own.sweep_for(TWICE_S, done, 1, QUIET) for done in (1, 2, 3)] == [1, 0, 0]
    assert own.swept() == 1
    server.set.clear()
    own.sweep_for(TWICE_S, 2, 1, QUIET)
    assert server.set == []


@pytest.mark.parametrize(
    ("server", "seconds", "error", "sentence"),
    [
        (CountingServer(), 60.0, SettingError, r"takes up to 1\d\d s, and this round has 60: learn for"),
        (CountingServer(per_s=5.0), TWICE_S, ServerError, "clients of db1:3306 send .* statements a second, and"),
        (CountingServer(known=False), TWICE_S, SettingError, "name it: --cpus N"),
    ],
    ids=["no time", "no load", "no processors"],
)
def test_where_nothing_can_be_learned_nothing_is_set(
    monkeypatch: pytest.MonkeyPatch,
    own: OwnServer,
    server: CountingServer,
    seconds: float,
    error: type[PoolPilotError],
    sentence: str,
) -> None:
    placed(monkeypatch, server)
    with pytest.raises(error, match=sentence):
        own.sweep_for(seconds, 0, 1, QUIET)
    assert (server.set, own.swept()) == ([], 0)


@pytest.mark.parametrize(
    "end", [LostServerError("the connection is lost"), KeyboardInterrupt()], ids=["lost", "Ctrl-C"]
)
def test_whatever_ends_a_sweep_its_configuration_returns_and_nothing_half_is_kept(
    monkeypatch: pytest.MonkeyPatch, own: OwnServer, end: BaseException
) -> None:
    server = placed(monkeypatch, CountingServer(ends_at=(40, end)))
    with pytest.raises(type(end)):
        own.sweep_for(TWICE_S, 0, 1, QUIET)
    assert len(server.set) > 2
    assert server.tuple_in_force() == FIRST
    assert (own.swept(), StagingStore(own.store).window_rows()) == (0, [])


def test_what_would_be_set_is_said_and_not_done(monkeypatch: pytest.MonkeyPatch, own: OwnServer) -> None:
    server = placed(monkeypatch, CountingServer())
    assert own.would().startswith("Would set 33 configurations from (1, 1, 10) to (128, 3, 500) in turn, ")
    assert "add --execute" in own.would()
    assert server.set == []
