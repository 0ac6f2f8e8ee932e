"""A side session does its job again and again, gives up in time, and leaves nothing behind."""

import time

import pytest
from pymysql.err import OperationalError

from poolpilot.errors import ServerError
from poolpilot.lab.instance import Lab
from poolpilot.lab.side.side_job import STATEMENTS, SideJob, SideKind
from poolpilot.lab.side.side_session import SideSession
from poolpilot.mariadb.session import Session


def until_done(side: SideSession, cycles: int) -> None:
    while side.done < cycles:
        side.check()
        time.sleep(0.02)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_every_side_job_runs_and_ends(loaded_lab: Lab, kind: SideKind) -> None:
    side = SideSession(SideJob(kind, rest_s=0.1), loaded_lab.root)
    try:
        until_done(side, 2)
    finally:
        side.stop()
    side.stop()
    with Session(loaded_lab.root) as session:
        session.execute("SET SESSION lock_wait_timeout = 1")
        session.execute("UPDATE sbtest.sbtest1 SET k = k + 1 WHERE id = 1")


def test_lock_is_held_for_as_long_as_asked_and_given_back_at_the_end(loaded_lab: Lab) -> None:
    side = SideSession(SideJob("table_lock", hold_s=60.0, rest_s=0.1), loaded_lab.root)
    try:
        until_done(side, 1)
        with Session(loaded_lab.root) as session:
            session.execute("SET SESSION lock_wait_timeout = 1")
            with pytest.raises(ServerError, match=r"(?i)timeout"):
                session.execute("UPDATE sbtest.sbtest1 SET k = k + 1 WHERE id = 1")
            side.stop()
            session.execute("UPDATE sbtest.sbtest1 SET k = k + 1 WHERE id = 1")
    finally:
        side.stop()


def test_what_ended_it_is_said(loaded_lab: Lab) -> None:
    side = SideSession(SideJob("table_lock", rest_s=0.1), loaded_lab.root)
    try:
        with Session(loaded_lab.root) as session:
            session.execute(f"KILL CONNECTION {side.connection_id}")
        with pytest.raises(ServerError, match="the side job table_lock has stopped"):
            until_done(side, 10**9)
    finally:
        side.stop()


@pytest.mark.parametrize(("number", "goes_on"), [(1205, True), (1213, True), (1064, False)])
def test_lock_that_cannot_be_had_costs_a_cycle_alone(
    loaded_lab: Lab, monkeypatch: pytest.MonkeyPatch, number: int, goes_on: bool
) -> None:
    execute = Session.execute
    refused: list[str] = []

    def refuse_once(self: Session, statement: str) -> None:
        if statement.startswith("LOCK TABLES") and not refused:
            refused.append(statement)
            raise ServerError("db refuses a statement") from OperationalError(number, "no lock")
        execute(self, statement)

    monkeypatch.setattr(Session, "execute", refuse_once)
    side = SideSession(SideJob("table_lock", rest_s=0.1), loaded_lab.root)
    try:
        if goes_on:
            until_done(side, 1)
            assert refused
        else:
            with pytest.raises(ServerError, match="the side job table_lock has stopped"):
                until_done(side, 10**9)
    finally:
        side.stop()
