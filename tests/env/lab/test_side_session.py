"""A side session does its job again and again, gives up in time, and leaves nothing behind."""

import time

import pytest

from poolpilot.env.lab.instance import Lab
from poolpilot.env.lab.side_job import STATEMENTS, SideJob, SideKind
from poolpilot.env.lab.side_session import SideSession
from poolpilot.env.mariadb.session import Session
from poolpilot.errors import ServerError


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
