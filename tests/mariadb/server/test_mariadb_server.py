"""A real MariaDB as a pool server: what is set is read back, what is counted is what was sent."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.env.knobs import UNKNOWN_CPUS
from poolpilot.env.measurement.protocol import observe
from poolpilot.errors import ServerError, SettingError, TupleChangedError
from poolpilot.featurizer.measures import STATUS_COUNTERS, measures_between
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.actuator import SetGlobal
from poolpilot.mariadb.counters import read_population
from poolpilot.mariadb.host import process
from poolpilot.mariadb.host.cpu_quota import CpuQuota, UsableCpus, whole_cpus
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.server import mariadb_server
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import LONG_WATCH, WatchSettings
from poolpilot.mariadb.session import Session


@pytest.fixture
def server(lab: Lab) -> Iterator[MariadbServer]:
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as opened:
        first = opened.tuple_in_force()
        yield opened
        opened.put_back(first)


def test_it_is_held_on_the_extra_port_and_its_process_is_known(server: MariadbServer, lab: Lab) -> None:
    running = lab.running()
    assert running is not None
    assert server.session.where.endswith(f":{running.extra_port}")
    assert server.warnings == ()
    assert server.process is not None
    assert server.process.pid == running.pid
    assert server.population.connections == 0


def test_socket_leads_to_the_extra_port_too(lab: Lab) -> None:
    running = lab.running()
    assert running is not None
    tuner = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(replace(tuner, socket=lab.socket, extra_port=None)) as opened:
        assert opened.process is not None
        assert opened.process.pid == running.pid
        assert opened.session.where.endswith(f":{running.extra_port}")


def test_process_is_found_where_systemd_holds_the_socket_and_never_on_another_host(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = lab.running()
    assert running is not None
    with Session(replace(tuner_of(lab), extra_port=None)) as session:
        assert ServerProcess.of(session) == ServerProcess(running.pid)
        monkeypatch.setattr(session, "_peer", 1)
        assert ServerProcess.of(session) == ServerProcess(running.pid)
        monkeypatch.setattr(session, "_is_local", False)
        assert ServerProcess.of(session) is None


@pytest.mark.parametrize(("others", "known"), [(0, True), (1, False)])
def test_process_whose_file_belongs_to_the_servers_group_is_the_only_server_that_runs(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, others: int, known: bool
) -> None:
    """Under MariaDB's own unit others may not read the file: processors were unknown, and nothing was ever advised."""
    running = lab.running()
    assert running is not None
    servers = {running.pid, *range(1, 1 + others)}

    def denied(_path: Path, *_args: object, **_named: object) -> str:
        raise PermissionError(13, "Permission denied")

    with Session(tuner_of(lab)) as session, monkeypatch.context() as patch:
        patch.setattr(process, "_name_of", lambda pid: "mariadbd" if pid in servers else "")
        patch.setattr(Path, "read_text", denied)
        found = ServerProcess.of(session)
    assert found == (ServerProcess(running.pid) if known else None)


def tuner_of(lab: Lab) -> Account:
    return Dsn(defaults_file=lab.defaults_file).account()


def test_account_that_may_not_use_the_extra_port_is_warned(lab: Lab) -> None:
    with Session(lab.root) as session:
        session.execute("CREATE OR REPLACE USER local@localhost")
    with MariadbServer(replace(lab.root, user="local", password="")) as opened:
        assert any("extra port" in warning and "denies access" in warning for warning in opened.warnings)
        assert opened.snapshot().pool_tuple == opened.tuple_in_force()


def test_tuple_set_is_read_back(server: MariadbServer) -> None:
    wanted = server.tuple_in_force().with_core((16, 5, 20))
    assert server.apply(wanted) == wanted == server.tuple_in_force()
    with Session(server.account) as other:
        assert other.row("SELECT @@thread_pool_size, @@thread_pool_oversubscribe, @@thread_pool_stall_limit") == (
            16,
            5,
            20,
        )


def test_limit_of_threads_is_that_of_now(server: MariadbServer, lab: Lab) -> None:
    large, most = server.tuple_in_force().with_core((17, 3, 500)), server.knobs.knobs["pool_size"].high
    with Session(lab.root) as session:
        (limit,) = session.row("SELECT @@GLOBAL.thread_pool_max_threads")
        session.execute("SET GLOBAL thread_pool_max_threads = 60")
        try:
            with pytest.raises(SettingError, match="thread_pool_max_threads is 60"):
                server.apply(large)
            assert server.knobs.knobs["pool_size"].high < most
            session.execute(f"SET GLOBAL thread_pool_max_threads = {limit}")
            server.snapshot()
            assert server.variables["thread_pool_max_threads"].value == str(limit)
            assert server.knobs.knobs["pool_size"].high == most
            assert server.apply(large) == large
        finally:
            session.execute(f"SET GLOBAL thread_pool_max_threads = {limit}")


def test_window_counts_the_statements_of_others_alone(server: MariadbServer) -> None:
    with Session(server.account) as client:
        before = server.snapshot()
        for _ in range(100):
            client.rows("SELECT 1")
        after = server.snapshot()
    window = Window.between(before, after)
    assert round(window.throughput_per_s * window.duration_s) == 100
    assert window.profile.features["connections"] == 1
    assert window.classes == {}


def test_watching_alone_counts_nothing_and_integrates_the_population(server: MariadbServer) -> None:
    measured = observe(server, 0.5)
    assert measured.window.throughput_per_s == 0.0
    assert measured.window.in_system == 0.0
    assert measured.measures["process_cpu_us"] is not None
    assert measured.window.profile.features["threads_mean"] is not None


def test_reported_waits_and_requests_in_the_system_show(server: MariadbServer) -> None:
    with Session(server.account) as client:
        client.rows("DO 0")
        before = server.snapshot()
        client.rows("SELECT SLEEP(0.3)")
        after = server.snapshot()
    assert after.counters["waits_sleep"] - before.counters["waits_sleep"] == 1


def rises(server: MariadbServer, *statements: str) -> dict[str, float]:
    """What the statements of a client made rise."""
    with Session(server.account) as client:
        client.rows("DO 0")
        before = server.snapshot()
        for statement in statements:
            client.rows(statement)
        after = server.snapshot()
    told = {name: after.counters[name] - value for name, value in before.counters.items()}
    return {name: rise for name, rise in told.items() if name in STATUS_COUNTERS and rise}


def test_the_mix_of_statements_is_that_of_others_alone(server: MariadbServer) -> None:
    told = rises(server, "SELECT 1", "SELECT 2", "COMMIT", "DO SLEEP(0.01)")
    assert {name: rise for name, rise in told.items() if name.startswith("statements_")} == {
        "statements_select": 2.0,
        "statements_commit": 1.0,
    }
    assert told["reported_sleep"] == 1.0


def test_threads_that_serve_are_seen_to_be_scheduled(server: MariadbServer) -> None:
    assert rises(server, *["DO SLEEP(0.001)"] * 20)["threads_scheduled"] >= 20.0


def test_idle_time_of_the_machine_is_that_of_a_server_that_may_use_all_of_it(server: MariadbServer, lab: Lab) -> None:
    measured = observe(server, 0.5)
    assert measured.measures["machine_idle_us"] is not None
    assert 0.0 <= measured.window.indicators["machine_idle_share"] <= 1.0
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account, cpus=(os.cpu_count() or 1) + 1) as other:
        assert "machine_idle_us" not in other.snapshot().counters


def test_wait_for_a_row_is_timed(server: MariadbServer, lab: Lab) -> None:
    with Session(lab.root) as holder, Session(lab.root) as waiter:
        holder.execute("CREATE DATABASE rows_of_test")
        holder.execute("CREATE TABLE rows_of_test.held (id INT PRIMARY KEY) ENGINE=InnoDB SELECT 1 AS id")
        waiter.execute("SET SESSION innodb_lock_wait_timeout = 1")
        holder.execute("BEGIN")
        holder.rows("SELECT * FROM rows_of_test.held FOR UPDATE")
        before = server.snapshot()
        with pytest.raises(ServerError, match="Lock wait timeout"):
            waiter.execute("UPDATE rows_of_test.held SET id = 2")
        measures = measures_between(before, server.snapshot())
        holder.execute("ROLLBACK")
        holder.execute("DROP DATABASE rows_of_test")
    assert measures["row_lock_waits"] == 1.0
    assert measures["reported_row_lock"] == 1.0
    assert (measures["row_lock_wait_us"] or 0.0) > 500_000.0


def test_rows_are_counted_while_a_statement_reads_them(server: MariadbServer, lab: Lab) -> None:
    def scan() -> None:
        with Session(lab.root) as scanning:
            scanning.rows("SELECT MAX(seq * seq) FROM mysql.seq_1_to_20000000")

    before, reader = server.snapshot(), threading.Thread(target=scan)
    reader.start()
    while_it_ran: list[float] = []
    while reader.is_alive():
        while_it_ran.append(measures_between(before, server.snapshot())["rows_read"] or 0.0)
    reader.join()
    # The last look may come after the last row.
    assert any(1e5 < read < 2e7 for read in while_it_ran)
    assert (measures_between(before, server.snapshot())["rows_read"] or 0.0) >= 2e7


def test_connections_of_a_group_that_nobody_listens_for_are_counted(server: MariadbServer) -> None:
    """The only thread of a group computes: until the timer comes, what its connections send is in no queue."""
    server.apply(server.tuple_in_force().with_core((1, 3, 5000)))
    before = server.snapshot()
    with Session(server.account) as waiting, Session(server.account) as computing:
        waiting.rows("DO 0")
        reader = threading.Thread(target=computing.rows, args=("SELECT BENCHMARK(100000000, 1 + 1)",))
        reader.start()
        server.run_for(0.6)
        seen = server.population
        after = server.snapshot()
        reader.join()
    assert seen.unlistened == 2
    assert seen.unheard_since(seen) == 2
    indicators = Window.between(before, after).indicators
    assert 0.0 < indicators["standing_connections_mean"] <= indicators["unlistened_connections_mean"] <= 2.0


def test_rows_that_looks_read_are_nobodys(server: MariadbServer) -> None:
    """A look reads a row of each group: with 128 of them as many as a server reads that is all but idle."""
    before = server.snapshot()
    for _ in range(20):
        read_population(server.session)
    assert (measures_between(before, server.snapshot())["rows_read"] or 0.0) < 20.0


def test_wait_events_are_missing_where_performance_schema_is_off(lab: Lab) -> None:
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account(), watch=LONG_WATCH) as opened:
        assert not any(name.startswith("events_") for name in opened.snapshot().counters)


def test_tuple_outside_the_ranges_is_refused_before_it_is_sent(server: MariadbServer) -> None:
    before = server.tuple_in_force()
    with pytest.raises(SettingError, match=r"pool_size is 129, outside the allowed range 1\.\.128"):
        server.apply(before.with_core((129, 3, 500)))
    assert server.tuple_in_force() == before


def test_server_refuses_what_it_would_have_clamped(server: MariadbServer) -> None:
    with pytest.raises(ServerError, match="thread_pool_size"):
        server.session.execute("SET GLOBAL thread_pool_size = 200")
    assert server.tuple_in_force().pool_size != 128


def test_tuple_that_may_ask_for_too_many_threads_is_refused(lab: Lab) -> None:
    account = Dsn(defaults_file=lab.defaults_file).account()
    opened = MariadbServer(account, watch=WatchSettings(spare_threads=65_000))
    with opened, pytest.raises(SettingError, match="thread_pool_max_threads is 65536"):
        opened.apply(opened.tuple_in_force().with_core((128, 5, 500)))


def test_largest_size_of_the_range_may_be_set_where_threads_are_few(lab: Lab) -> None:
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account, watch=WatchSettings(spare_threads=65_476)) as opened:
        first = opened.tuple_in_force()
        largest = first.with_core((int(opened.knobs.knobs["pool_size"].high), 3, 10))
        assert largest.active_threads == 65_536 - 65_476
        assert opened.apply(largest) == largest
        with pytest.raises(SettingError, match="thread_pool_max_threads is 65536"):
            opened.apply(largest.with_core((largest.pool_size + 1, 3, 10)))
        assert opened.apply(first) == first


def test_what_was_in_force_may_come_back_whatever_it_asks_for(lab: Lab) -> None:
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account, watch=WatchSettings(spare_threads=65_534)) as opened:
        first = opened.tuple_in_force()
        with pytest.raises(SettingError, match="thread_pool_max_threads"):
            opened.apply(first.with_core((first.pool_size + 1, first.oversubscribe, 400)))
        small = first.with_core((1, 1, 400))
        opened.put_back(small)
        assert opened.apply(first) == first


class BreaksHalfWay(SetGlobal):
    """Sets the first of the knobs and then fails, once."""

    failed = False

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        if self.failed:
            super().set(session, before, after)
            return
        self.failed = True
        super().set(session, before, before.with_core((after.pool_size, *before.core[1:])))
        raise ServerError("broke half way")


def test_old_tuple_returns_when_setting_breaks_half_way(lab: Lab) -> None:
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account(), BreaksHalfWay()) as opened:
        before = opened.tuple_in_force()
        with pytest.raises(ServerError, match="broke half way"):
            opened.apply(before.with_core((32, 9, 40)))
        assert opened.tuple_in_force() == before


class HumanInBetween(SetGlobal):
    """Somebody else sets another knob before what was set is read back."""

    def __init__(self, human: Session) -> None:
        self.human = human

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        super().set(session, before, after)
        self.human.execute("SET GLOBAL thread_pool_oversubscribe = 11")


@pytest.mark.usefixtures("server")
def test_human_who_sets_a_knob_in_the_same_moment_is_left_alone(lab: Lab) -> None:
    with Session(lab.root) as human:
        account = Dsn(defaults_file=lab.defaults_file).account()
        with MariadbServer(account, HumanInBetween(human)) as opened:
            with pytest.raises(TupleChangedError, match="somebody else has set"):
                opened.apply(opened.tuple_in_force().with_core((32, 3, 500)))
            assert opened.tuple_in_force().core == (32, 11, 500)


class HumanJustBefore(SetGlobal):
    """Somebody else sets a knob that is about to be set, after the last look at it."""

    def __init__(self, human: Session) -> None:
        self.human = human

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        self.human.execute("SET GLOBAL thread_pool_oversubscribe = 11")
        super().set(session, before, after)


@pytest.mark.usefixtures("server")
def test_human_who_sets_a_knob_just_before_us_is_left_alone(lab: Lab) -> None:
    with Session(lab.root) as human:
        account = Dsn(defaults_file=lab.defaults_file).account()
        with MariadbServer(account, HumanJustBefore(human)) as opened:
            before = opened.tuple_in_force()
            with pytest.raises(TupleChangedError, match="somebody else has set"):
                opened.apply(before.with_core((32, before.oversubscribe + 1, 500)))
            assert opened.tuple_in_force().oversubscribe == 11


def test_human_who_sets_a_knob_before_the_window_begins_is_noticed_once(server: MariadbServer, lab: Lab) -> None:
    before = server.snapshot().pool_tuple
    server.apply(before.with_core((32, 3, 500)))
    with Session(lab.root) as human:
        human.execute("SET GLOBAL thread_pool_oversubscribe = 11")
    with pytest.raises(TupleChangedError, match=r"somebody else has set \(32, 11, 500\).* where \(32, 3, 500\)"):
        server.snapshot()
    assert server.snapshot().pool_tuple.core == (32, 11, 500)
    assert server.apply(before) == before


def test_human_who_sets_a_tuple_meanwhile_is_noticed_and_left_alone(server: MariadbServer, lab: Lab) -> None:
    before = server.snapshot()
    with Session(lab.root) as human:
        human.execute("SET GLOBAL thread_pool_size = 7")
        with pytest.raises(TupleChangedError, match=r"somebody else has set .* was measured"):
            Window.between(before, server.snapshot())
        human.execute("SET GLOBAL thread_pool_size = 9")
        with pytest.raises(TupleChangedError, match="somebody else has set"):
            server.apply(server.knobs.default_tuple())
    assert server.tuple_in_force().pool_size == 9


def test_processors_are_those_of_the_process(server: MariadbServer) -> None:
    assert server.process is not None
    usable = server.process.cpus()
    assert usable is not None
    assert server.snapshot().gauges["cpus"] == server.cpus == usable.cpus
    assert server.knobs.processors == whole_cpus(usable.cpus)


def test_quota_is_a_fraction_to_what_is_measured_and_counts_whole_to_the_grid(
    server: MariadbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quota of 0.4 was taken for a whole processor: used up, it showed as 40 % of one."""
    monkeypatch.setattr(ServerProcess, "cpus", lambda _: UsableCpus(2, CpuQuota(0.4, {})))
    window = observe(server, 0.2).window
    assert window.profile.features["cpus"] == 0.4
    assert (server.cpus, server.knobs.processors) == (0.4, 1)
    assert "machine_idle_share" not in window.indicators


def test_affinity_that_changes_is_seen_in_the_next_snapshot(server: MariadbServer) -> None:
    assert server.process is not None
    allowed, pid = os.sched_getaffinity(server.process.pid), server.process.pid
    if len(allowed) < 2:
        pytest.skip("there is no processor to take away")
    size = server.knobs.knobs["pool_size"]
    try:
        os.sched_setaffinity(pid, {min(allowed)})
        assert server.snapshot().gauges["cpus"] == 1.0
        assert (server.knobs.processors, server.knobs.knobs["pool_size"].high) == (1, size.high)
    finally:
        os.sched_setaffinity(pid, allowed)
    assert server.snapshot().gauges["cpus"] == len(allowed)


def test_quota_that_cannot_be_read_is_a_warning_and_the_affinity_goes_on(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "the CPU quota of /sys/fs/cgroup/a is '0 100000', which limits nothing"
    monkeypatch.setattr(ServerProcess, "cpus", lambda _: UsableCpus(2, CpuQuota(None, {}, (fault,))))
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account) as opened:
        (warning,) = opened.warnings
        assert warning.startswith(f"{fault}: ")
        assert warning.endswith("--cpus N")
        assert opened.cpus == 2.0
    with MariadbServer(account, cpus=2) as opened:
        assert opened.warnings == ()


def test_processors_that_are_named_are_taken_and_compared(lab: Lab) -> None:
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account, cpus=4000) as opened:
        assert opened.knobs.processors == 4000
        (warning,) = opened.warnings
        assert warning.startswith("--cpus 4000 is taken, but the process of the server, which runs here, may use ")
    with pytest.raises(SettingError, match=r"'cpus' is 0; .* in 1\.\.4096"):
        MariadbServer(account, cpus=0)


def test_of_a_server_elsewhere_processors_are_asked_for_and_never_guessed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerProcess, "of", lambda *_: None)
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account) as opened:
        assert opened.knobs.processors is None
        assert opened.warnings == (UNKNOWN_CPUS,)
        assert observe(opened, 0.2).window.profile.features["cpus"] is None
    with MariadbServer(account, cpus=64) as opened:
        assert (opened.knobs.processors, opened.warnings) == (64, ())
        assert observe(opened, 0.2).window.profile.features["cpus"] == 64.0


def test_second_close_does_nothing(lab: Lab) -> None:
    opened = MariadbServer(Dsn(defaults_file=lab.defaults_file).account())
    opened.close()
    opened.close()


def suppressed(session: Session, statement: str) -> None:
    """Runs a statement that may not be answered in time."""
    with suppress(ServerError):
        session.execute(statement)


def test_who_looks_at_everything_sees_what_goes_on_beside_the_workload(lab: Lab) -> None:
    with MariadbServer(lab.root, watch=LONG_WATCH) as opened, Session(lab.root) as backup, Session(lab.root) as writer:
        assert observe(opened, 0.6).window.disturbances == ()
        writer.execute("CREATE DATABASE IF NOT EXISTS held_off")
        backup.execute("FLUSH TABLES WITH READ LOCK")
        waiting = threading.Thread(target=suppressed, args=(writer, "DROP DATABASE held_off"))
        waiting.start()
        try:
            ends_s = time.monotonic() + 60.0
            while not (seen := observe(opened, 0.6).window.disturbances) and time.monotonic() < ends_s:
                pass
        finally:
            backup.execute("UNLOCK TABLES")
            waiting.join()
        assert any("lock on all tables" in one.text or "changes a table" in one.text for one in seen)


def test_who_looks_often_asks_for_nothing_more(server: MariadbServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb_server, "hindrances", lambda *_: pytest.fail("was asked"))
    assert observe(server, 0.3).window.disturbances == ()
