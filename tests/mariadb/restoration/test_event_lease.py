"""The lease inside the database: what was verified comes back when nobody renews it, and only then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.mariadb.test_grants import account_of, run_sql, with_password

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.actuator import Actuator, CallProcedure, SetGlobal
from poolpilot.mariadb.counters import read_tuple_values
from poolpilot.mariadb.grants import grants
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.restoration.event_lease import LEAST_S, EventLease, check_scheduler
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.tuner_lock import LOCK
from poolpilot.mariadb.variables import tuple_of

FIRST = PoolTuple(4, 4, 400, idle_timeout_s=1.0)
STEP = FIRST.with_core((8, 3, 300))
LONG_S = 8
"""A lease that a busy machine does not lose where nobody is silent."""

WITHIN_S = 60.0
"""A busy machine may be late; a lease that never lapses is what fails."""


@pytest.fixture
def scheduled(lab: Lab) -> Iterator[Lab]:
    run_sql(lab, "SET GLOBAL event_scheduler = ON; CREATE DATABASE IF NOT EXISTS poolpilot;")
    run_sql(
        lab, "GRANT EVENT ON poolpilot.* TO poolpilot@127.0.0.1; GRANT EVENT ON poolpilot.* TO poolpilot@localhost;"
    )
    set_tuple(lab, FIRST)
    yield lab
    run_sql(lab, "DROP EVENT IF EXISTS poolpilot.tuner_lease; SET GLOBAL event_scheduler = OFF;")
    set_tuple(lab, PoolTuple(2, 3, 500))


def set_tuple(lab: Lab, pool_tuple: PoolTuple) -> None:
    size, oversubscribe, stall_limit = pool_tuple.core
    run_sql(
        lab,
        f"SET GLOBAL thread_pool_size={size}; SET GLOBAL thread_pool_oversubscribe={oversubscribe}; "
        f"SET GLOBAL thread_pool_stall_limit={stall_limit}",
    )


def in_force(lab: Lab) -> PoolTuple:
    with Session(lab.root) as session:
        return tuple_of(read_tuple_values(session))


def events(lab: Lab) -> list[tuple[object, ...]]:
    with Session(lab.root) as session:
        return session.rows("SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'poolpilot'")


def until(lab: Lab, pool_tuple: PoolTuple, *, events_left: int = 0) -> None:
    ends_s = time.monotonic() + WITHIN_S
    while (in_force(lab), len(events(lab))) != (pool_tuple, events_left):
        assert time.monotonic() < ends_s, f"{in_force(lab)} is in force, and there are the events {events(lab)}"
        time.sleep(0.1)


@contextmanager
def tuner(
    lab: Lab, journals: Path, account: Account | None = None, actuator: Actuator | None = None, lease_s: int = LEAST_S
) -> Iterator[tuple[MariadbServer, MariadbRestoration]]:
    account = account or Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account, actuator or SetGlobal()) as server:
        restoration = MariadbRestoration(server, journals, lease=EventLease(server, lease_s))
        restoration.begin("tune", lambda _: None)
        yield server, restoration


def test_silent_tuner_loses_its_lease(scheduled: Lab, tmp_path: Path) -> None:
    """Its connection stays open, as that of a host that is gone does."""
    with tuner(scheduled, tmp_path) as (server, _):
        server.apply(STEP)
        until(scheduled, FIRST)


def test_lease_is_renewed_by_every_look(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path, lease_s=LONG_S) as (server, restoration):
        server.apply(STEP)
        server.run_for(LONG_S + 2.0)
        assert (server.tuple_in_force(), len(events(scheduled))) == (STEP, 1)
        restoration.bring_back(lambda _: None)
        assert (in_force(scheduled), events(scheduled)) == (FIRST, [])


def test_what_was_committed_is_what_stays(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path) as (server, restoration):
        server.apply(STEP)
        restoration.commit(STEP)
        server.apply(STEP.with_core((16, 3, 300)))
    until(scheduled, STEP)


def test_what_somebody_else_has_set_is_left_alone(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path) as (server, _):
        server.apply(STEP)
        run_sql(scheduled, "SET GLOBAL thread_pool_size = 13")
    until(scheduled, FIRST.with_core((13, 4, 400)))


def test_lost_connection_keeps_the_lease_once_it_is_open_again(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path, lease_s=LONG_S) as (server, restoration):
        server.apply(STEP)
        with suppress(ServerError):
            server.session.execute(f"KILL {server.session.connection_id}")
        assert restoration.reach_again() is False
        server.run_for(LONG_S + 2.0)
        assert len(events(scheduled)) == 1
        restoration.bring_back(lambda _: None)
    assert (in_force(scheduled), events(scheduled)) == (FIRST, [])


def test_lock_that_is_no_tuners_keeps_nothing_from_coming_back(scheduled: Lab, tmp_path: Path) -> None:
    run_sql(scheduled, "CREATE OR REPLACE USER squatter@localhost")
    squatter = replace(scheduled.root, user="squatter", password="")
    with tuner(scheduled, tmp_path) as (server, _), Session(squatter) as session:
        server.apply(STEP)
        server.session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))
        assert session.row("SELECT GET_LOCK(%s, 5)", (LOCK,)) == (1,)
        until(scheduled, FIRST)


def test_tuner_inside_a_procedure_of_another_account_is_alive(scheduled: Lab, tmp_path: Path) -> None:
    """Its session is seen as the procedure's owner's meanwhile."""
    run_sql(scheduled, "\n".join(grants(tuner="inside@127.0.0.1", sizes=(1, 64), lease=True).values()))
    run_sql(
        scheduled,
        f"{with_password('inside')} CREATE OR REPLACE DEFINER = poolpilot_owner@localhost PROCEDURE poolpilot.slow() "
        "SQL SECURITY DEFINER DO SLEEP(4); GRANT EXECUTE ON PROCEDURE poolpilot.slow TO inside@127.0.0.1; "
        "GRANT EXECUTE ON PROCEDURE poolpilot.slow TO poolpilot_owner@localhost",
    )
    account = account_of(scheduled, "inside")
    with tuner(scheduled, tmp_path, account, CallProcedure(), lease_s=LONG_S) as (server, restoration):
        server.apply(STEP)
        server.session.execute("CALL poolpilot.slow()")
        assert (in_force(scheduled), len(events(scheduled))) == (STEP, 1)
        restoration.bring_back(lambda _: None)


def test_least_privilege_is_enough(scheduled: Lab, tmp_path: Path) -> None:
    printed = grants(tuner="leased@127.0.0.1", sizes=(1, 64), lease=True)
    run_sql(scheduled, "\n".join(printed.values()))
    run_sql(scheduled, with_password("leased"))
    with tuner(scheduled, tmp_path, account_of(scheduled, "leased"), CallProcedure()) as (server, _):
        server.apply(STEP)
    until(scheduled, FIRST)


def test_account_without_the_right_is_told_what_gives_it(scheduled: Lab, tmp_path: Path) -> None:
    run_sql(scheduled, "\n".join(grants(tuner="unleased@127.0.0.1", sizes=(1, 64)).values()))
    run_sql(scheduled, with_password("unleased"))
    account = account_of(scheduled, "unleased")
    with (
        pytest.raises(ServerError, match="poolpilot grants --lease"),
        tuner(scheduled, tmp_path, account, CallProcedure()),
    ):
        pass
    assert in_force(scheduled) == FIRST


def test_scheduler_that_is_off_is_told_with_what_to_do(scheduled: Lab, tmp_path: Path) -> None:
    run_sql(scheduled, "SET GLOBAL event_scheduler = OFF")
    with pytest.raises(ServerError, match=r"is OFF.*SET GLOBAL event_scheduler = ON"), tuner(scheduled, tmp_path):
        pass


def test_scheduler_that_is_switched_off_meanwhile_lets_nothing_be_set(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path) as (server, _):
        run_sql(scheduled, "SET GLOBAL event_scheduler = OFF")
        with pytest.raises(ServerError, match="event_scheduler"):
            server.apply(STEP)
        assert server.tuple_in_force() == FIRST


def test_server_whose_scheduler_is_off_is_reached_again_and_only_the_way_back_is_open(
    scheduled: Lab, tmp_path: Path
) -> None:
    """Before, it was never reached, and what had been tried stayed in force for as long."""
    with tuner(scheduled, tmp_path, lease_s=LONG_S) as (server, restoration):
        server.apply(STEP)
        run_sql(scheduled, f"SET GLOBAL event_scheduler = OFF; KILL {server.session.connection_id}")
        assert restoration.reach_again() is False
        with pytest.raises(ServerError, match="event_scheduler"):
            server.apply(FIRST.with_core((5, 4, 400)))
        assert server.apply(FIRST) == FIRST
        run_sql(scheduled, "SET GLOBAL event_scheduler = ON")
        assert server.apply(STEP) == STEP
        restoration.bring_back(lambda _: None)
    assert (in_force(scheduled), events(scheduled)) == (FIRST, [])


def test_what_is_to_come_back_comes_back_before_it_is_in_force(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path) as (server, restoration):
        server.apply(STEP)
        restoration.commit(STEP)
        restoration.return_to(FIRST)
    until(scheduled, FIRST)


def test_disabled_scheduler_wants_a_restart() -> None:
    with pytest.raises(ServerError, match="restart it with event_scheduler=ON"):
        check_scheduler("DISABLED", "db1:3306")


def test_event_leaves_a_restarted_server_to_its_configuration_file(scheduled: Lab, tmp_path: Path) -> None:
    """As after a restart: the server has started at another time than the lease says."""
    with tuner(scheduled, tmp_path) as (server, _):
        lease = EventLease(server, LEAST_S)
        lease.hold(FIRST, replace(read_identity(server.session), started_unix_s=1))
        lease.announce(STEP)
        set_tuple(scheduled, STEP)
    until(scheduled, STEP)


def test_event_that_came_to_another_server_does_nothing_there(scheduled: Lab, tmp_path: Path) -> None:
    with tuner(scheduled, tmp_path) as (server, restoration):
        lease = EventLease(server, LEAST_S)
        lease.hold(FIRST, replace(read_identity(server.session), hostname="another's name"))
        lease.announce(STEP)
        restoration.close()
        set_tuple(scheduled, STEP)
        time.sleep(LEAST_S + 1.0)  # it runs every second
        assert (in_force(scheduled), len(events(scheduled))) == (STEP, 1)


def test_statement_names_only_what_differs() -> None:
    class Quiet:
        actuator: Actuator = SetGlobal()

        class session:
            where, connection_id = "here", 7

            @staticmethod
            def execute(_: str, __: object = ()) -> None:
                """Takes everything."""

            @staticmethod
            def row(_: str) -> tuple[str]:
                return ("ON",)

            @staticmethod
            def rows(_: str, __: object = ()) -> list[tuple[int]]:
                return [(1,)]

    lease = EventLease(Quiet(), 20)  # type: ignore[arg-type]
    lease.hold(FIRST, ServerIdentity("db1", "/data/", "10.11", 1))
    assert "SET GLOBAL" not in lease.statement()
    lease.announce(replace(FIRST, pool_size=8))
    assert "SET GLOBAL thread_pool_size = IF(@@GLOBAL.thread_pool_size IN (8), 4" in lease.statement()
    assert lease.statement().count("SET GLOBAL") == 1
    lease.announce(replace(FIRST, pool_size=16))
    assert "IN (8, 16), 4" in lease.statement()
