"""`poolpilot learn --dsn` on a real MariaDB: it is swept and learned from, and has back what was in force."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.commands.prepared_command import PreparedCommand
from tests.serve.commands.staged_server import PATIENCE_S, selects

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MARIADB_RACING
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.collect import own_server
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.serve.commands.presentation.exit_codes import REFUSED

Invoke = Callable[..., Any]

MINUTES = 0.6
"""Of which the server has 21 seconds: enough for one small sweep."""

SIMULATED = ("--set", "servers=simulated", "--set", "track=false")
"""What is learned beside it."""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small base, a small grid and short windows."""
    shipped = load_curves()
    small = ResponseCurves(grid=shipped.grid, source="some of what ships", curves=shipped.curves[::40])
    racing = {"window_s": 0.2, "keep_shares": (0.5,), "final_repeats": 0, "oracle_repeats": 1}
    monkeypatch.setattr(learn_module, "load_curves", lambda: small)
    monkeypatch.setattr(own_server, "MARIADB_RACING", MARIADB_RACING.model_copy(update=racing))
    monkeypatch.setattr(own_server, "LARGE_GRID", ActionGrid((2, 8), (3,), (10, 500)))


@pytest.fixture
def busy(loaded_lab: Lab) -> Iterator[str]:
    """DSN of a server under requests that leave most of the machine to the learning."""
    with SqlLoad(selects(think_ms=50.0), loaded_lab.load_file, loaded_lab.dataset):
        yield f"F={loaded_lab.defaults_file}"


def in_force(lab: Lab) -> PoolTuple:
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        return server.tuple_in_force()


def test_it_is_swept_and_learned_from_and_has_its_configuration_back(
    invoke: Invoke, busy: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before, out = in_force(loaded_lab), tmp_path / "learned"
    quick = ("--minutes", MINUTES, *SIMULATED)
    looked = invoke("learn", *quick, "--set", "workloads=1", "--out", tmp_path / "looked", "--dsn", busy)
    assert looked.code in (0, REFUSED), looked.err
    assert "On your own server: Would set " in looked.out
    assert in_force(loaded_lab) == before
    options = ("--set", "workloads=6", "--out", out, "--json", tmp_path / "learned.json")
    result = invoke("learn", *quick, *options, "--dsn", busy, "--execute")
    assert result.code in (0, REFUSED), result.err
    assert f"In force now: {before}" in result.out
    assert in_force(loaded_lab) == before
    (row,) = json.loads((tmp_path / "learned.json").read_text(encoding="utf-8"))["rounds"]
    assert [one["workloads"] for one in row["coverage"] if one["server"] == "own"] == [1]
    (sweep,) = read_dataset(out / "records" / "own", "train").sweeps
    assert sweep.objective.signal == "time_in_system"
    assert before.core in sweep.entries


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_in_a_sweep_it_restores_what_was_in_force_and_says_how_to_go_on(
    busy: str, loaded_lab: Lab, tmp_path: Path, number: signal.Signals
) -> None:
    before = in_force(loaded_lab)
    options = ("--minutes", "5", "--set", "workloads=1", *SIMULATED, "--out", str(tmp_path))
    with PreparedCommand(["learn", *options, "--dsn", busy, "--execute"], os.environ) as process:
        with Session(loaded_lab.root) as session:
            while session.row("SELECT @@thread_pool_size")[0] == before.pool_size and process.poll() is None:
                time.sleep(0.02)
        process.send_signal(number)
        said = process.communicate(timeout=PATIENCE_S)[0]
    assert process.returncode == 130
    assert f"In force now: {before}" in said
    assert "The same command goes on." in said
    assert in_force(loaded_lab) == before
