"""A test server under a workload: windows know server and clients, changes show, and nothing is left behind."""

import time
from pathlib import Path

import numpy as np
import pytest

from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.record import RecordContext, record_row, window_of
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.mariadb_pool import MariadbPoolEnv
from poolpilot.lab.side import side_session
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.lab.sysbench_families import FAMILIES, draw_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.session import Session

QUICK = MeasurementSettings(settle_s=0.2, max_settle_s=0.2, window_s=0.5, window_ticks=0.0)
SLEEPERS = SqlWorkload(
    "sleepers", "test", (SqlClass("only", "waiting", 16, target_ms=100.0, options={"sleep_ms": 5.0}),)
)


@pytest.fixture(scope="module")
def place(mariadb_installed: None, tmp_path_factory: pytest.TempPathFactory) -> LabPlace:  # noqa: ARG001
    return LabPlace(folder=tmp_path_factory.mktemp("labs"))


def test_window_knows_what_server_and_clients_saw(place: LabPlace) -> None:
    with LabServer(SLEEPERS, place) as server:
        pid = server.process.pid if server.process else 0
        first = server.tuple_in_force()
        measured = measure(server, first.with_core((8, 3, 10)), QUICK)
        window, features = measured.window, measured.window.profile.features
        assert window.pool_tuple.core == (8, 3, 10)
        assert features["connections"] == 16
        assert window.classes["only"].latency.quantile(0.01) >= 4_500.0
        assert features["completed_per_s"] == pytest.approx(window.classes["only"].throughput_per_s, rel=0.2)
        assert features["waits_sleep_per_request"] == pytest.approx(1.0, rel=0.2)
        assert features["queue_wait_us_mean"] is None
        assert window.in_system == pytest.approx(16.0, rel=0.2)
    assert not Path(f"/proc/{pid}").exists()
    server.close()


def test_every_server_starts_afresh(place: LabPlace) -> None:
    for _ in range(2):
        with LabServer(SLEEPERS, place) as server:
            assert server.tuple_in_force() == server.knobs.default_tuple()
            server.apply(server.tuple_in_force().with_core((32, 5, 20)))


def test_record_of_a_window_restores_it(place: LabPlace) -> None:
    context = RecordContext(
        workload_id="w",
        family="f",
        split="train",
        machine="m",
        server="mariadb",
        workload_seed=0,
        run_id="r",
        kind="sweep",
        round=0,
        propensity=1.0,
        time_unix_s=0.0,
        steal_share=None,
        settle_s=0.0,
    )
    with LabServer(SLEEPERS, place) as server:
        measured = measure(server, server.tuple_in_force(), QUICK)
    row = record_row(measured.window, measured.measures, context, goodput_per_s=1.0, objective=0.0)
    restored = window_of(row)
    assert restored.profile.features == measured.window.profile.features
    assert restored.classes["only"].throughput_per_s == measured.window.classes["only"].throughput_per_s


def test_environment_measures_on_the_server_and_gives_it_back(place: LabPlace) -> None:
    environment = MariadbPoolEnv([SLEEPERS], place, settings=QUICK, horizon=1)
    observation, _ = environment.reset(seed=1)
    assert environment.observation_space.contains(observation)
    _, reward, terminated, truncated, _ = environment.step(np.int64(13))
    assert np.isfinite(reward)
    assert (terminated, truncated) == (True, False)
    environment.close()


def test_environment_without_workloads_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one workload"):
        MariadbPoolEnv([])


def test_server_has_room_for_all_connections_of_its_workload() -> None:
    twelve = tuple(SqlClass(f"class{n}", "waiting", 200) for n in range(12))
    storm = SqlClass("logins", "reconnect", 100)
    place = LabPlace()
    assert place.lab(SLEEPERS).settings.max_connections == place.server.max_connections == 2000
    assert place.lab(SqlWorkload("w", "test", twelve)).settings.max_connections > 2400
    assert place.lab(SqlWorkload("w", "test", (*twelve, storm))).settings.max_connections > 2600


def test_slow_disk_shows_in_what_commits_take(place: LabPlace) -> None:
    workload = draw_workload(FAMILIES["slow_disk"], 1, 0)
    with LabServer(workload, place) as server:
        window = measure(server, server.tuple_in_force(), QUICK).window
        assert window.classes["read_write"].latency.quantile(0.1) > 5_000.0


def test_server_is_as_its_workload_asks_and_its_side_job_runs(place: LabPlace) -> None:
    points = SqlClass("points", "oltp_point_select", 4)
    storm = SqlClass("logins", "reconnect", 4)
    side = SideJob("table_lock", hold_s=0.1, rest_s=0.1)
    workload = SqlWorkload("w", "test", (points, storm), log_bin=True, buffer_pool_mb=32, side=side)
    with LabServer(workload, place) as server:
        server.run_for(1.0)
        with Session(server.lab.root) as session:
            seen = session.row("SELECT @@log_bin, @@sync_binlog, @@innodb_buffer_pool_size")
        assert tuple(map(int, seen)) == (1, 1, 32 << 20)
        assert server.side is not None
        assert server.side.done > 0
        assert min(latency.count for latency in server.clients.histograms().values()) > 0 if server.clients else False
    with LabServer(SLEEPERS, place) as server, Session(server.lab.root) as session:
        assert int(session.row("SELECT @@log_bin")[0]) == 0


def test_load_outlives_the_tables_that_are_altered_under_its_transactions(place: LabPlace) -> None:
    workload = SqlWorkload(
        "altered", "test", (SqlClass("orders", "oltp_read_write", 16),), side=SideJob("alter_table", rest_s=0.1)
    )
    with LabServer(workload, place) as server:
        load, side, ends_s = server.clients, server.side, time.monotonic() + 120.0
        assert isinstance(load, SqlLoad)
        assert side is not None
        # A transaction that began before the copy and comes to the table after it gets error 1412.
        while (side.done < 4 or not load.senders[0].ledger.restarts) and time.monotonic() < ends_s:
            server.run_for(0.2)
            load.histograms()
        assert side.done >= 4
        before = load.histograms()["orders"].count
        server.run_for(2.0)
        assert load.histograms()["orders"].count > before


def test_server_is_stopped_when_its_side_job_cannot_begin(place: LabPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_session, "WAIT_FOR_LOCKS_S", "nonsense")
    workload = SqlWorkload("w", "test", SLEEPERS.classes, side=SideJob("table_lock"))
    with pytest.raises(ServerError):
        LabServer(workload, place)
    assert place.lab(workload).running() is None
