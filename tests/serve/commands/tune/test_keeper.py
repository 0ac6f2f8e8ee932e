"""What the keeper takes back, and who keeps it from doing so."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.env.lab.instance import Lab
from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.env.mariadb.session import Session
from poolpilot.env.mariadb.tuner_lock import LOCK
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.env.tuning.journal import FOLDER_VARIABLE
from poolpilot.env.tuning.mariadb_way_back import MariadbWayBack
from poolpilot.serve.commands.tune.keeper import keep_watch, stranger_in_the_way, taken_back
from poolpilot.serve.commands.tune.tune_settings import TuneSettings


def test_lock_that_is_no_tuners_is_named_while_something_is_left(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with Session(lab.root) as root:
        root.execute("CREATE OR REPLACE USER squatter@localhost")
    squatter = replace(lab.root, user="squatter", password="")
    account = Dsn(defaults_file=lab.defaults_file).account()
    with MariadbServer(account) as server, Session(squatter) as session:
        assert session.row("SELECT GET_LOCK(%s, 5)", (LOCK,)) == (1,)
        assert stranger_in_the_way(server) is None  # nothing is left
        session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))
        first = leave_behind(server)
        assert session.row("SELECT GET_LOCK(%s, 5)", (LOCK,)) == (1,)
        assert taken_back(server) == ""
        assert stranger_in_the_way(server) == session.connection_id
        said = StringIO()
        keep_watch(TuneSettings(dsn=f"F={lab.defaults_file}", seconds=2.5), Console(file=said, width=1000))
        assert said.getvalue().count(f"connection {session.connection_id} holds the lock 'poolpilot'") == 1
        session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))
        assert stranger_in_the_way(server) is None
        assert str(first) in taken_back(server)
        assert server.tuple_in_force() == first


def leave_behind(server: MariadbServer) -> object:
    """Ends as a killed tuner does; what was in force at first."""
    way_back = MariadbWayBack(server)
    first = way_back.begin("tune", lambda _: None)
    server.apply(first.with_core((16, 9, 40)))
    way_back.close()
    return first
