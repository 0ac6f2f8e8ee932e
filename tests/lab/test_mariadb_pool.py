"""Copies of the environment on a test server have one each; alone it has always the same."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import gymnasium
import pytest

from poolpilot.env.environments.pool_env import RISE_AND_FALL
from poolpilot.env.servers.curve import CurveServer
from poolpilot.errors import ServerError
from poolpilot.lab import mariadb_pool
from poolpilot.lab.instance import Lab
from poolpilot.lab.lab_server import LabPlace
from poolpilot.lab.sql_workload import SqlWorkload

ID = "poolpilot.env.environments:poolpilot/MariaDB-v0"


class StubbedLabServer(CurveServer):
    """A curve that holds the folder of a test server, whose server is not started."""

    begun: list[str]

    def __init__(self, workload: SqlWorkload, place: LabPlace, number: int) -> None:
        lab = place.lab(workload, number)
        self._held = lab.restarted()
        self._held.__enter__()
        self.begun.append(lab.folder.name)
        super().__init__(RISE_AND_FALL)

    def close(self) -> None:
        super().close()
        self._held.__exit__(None, None, None)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders of the test servers in the order of the episodes."""
    monkeypatch.setattr(StubbedLabServer, "begun", [], raising=False)
    monkeypatch.setattr(mariadb_pool, "LabServer", StubbedLabServer)
    monkeypatch.setattr(Lab, "up", lambda *_: None)
    return StubbedLabServer.begun


def test_copies_of_one_process_have_a_test_server_each(begun: list[str], tmp_path: Path) -> None:
    with closing(gymnasium.make_vec(ID, 3, "sync", place=LabPlace(folder=tmp_path))) as vector:
        vector.reset(seed=0)
        assert begun == ["small", "small-2", "small-3"]
        vector.reset(seed=1)
        assert begun[3:] == ["small", "small-2", "small-3"]


def test_one_environment_has_always_the_same(begun: list[str], tmp_path: Path) -> None:
    with closing(gymnasium.make(ID, place=LabPlace(folder=tmp_path))) as env:
        for _ in range(3):
            env.reset()
    assert begun == ["small"] * 3
    assert [path.name for path in tmp_path.iterdir()] == ["small"]


def test_server_that_does_not_come_up_is_not_made_again_beside_it(
    begun: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def failing(_lab: Lab) -> Iterator[None]:
        begun.append("tried")
        raise ServerError("it does not answer")
        yield

    monkeypatch.setattr(Lab, "restarted", failing)
    with pytest.raises(ServerError, match="it does not answer"):
        gymnasium.make(ID, place=LabPlace(folder=tmp_path)).reset()
    assert begun == ["tried"]
