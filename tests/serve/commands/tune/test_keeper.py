"""What the keeper rolls back, and who keeps it from doing so."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.lab.instance import Lab
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.tuner_lock import LOCK
from poolpilot.serve.commands.tune import keeper
from poolpilot.serve.commands.tune.keeper import keep_watch, restored, stranger_in_the_way
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
        assert restored(server) == ""
        assert stranger_in_the_way(server) == session.connection_id
        said = StringIO()
        keep_watch(TuneSettings(dsn=f"F={lab.defaults_file}", seconds=2.5), Console(file=said, width=1000))
        assert said.getvalue().count(f"connection {session.connection_id} holds the lock 'poolpilot'") == 1
        session.row("SELECT RELEASE_LOCK(%s)", (LOCK,))
        assert stranger_in_the_way(server) is None
        assert str(first) in restored(server)
        assert server.tuple_in_force() == first


def test_keeper_that_is_cut_off_says_so_and_takes_the_account_as_its_file_has_it_by_then(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, a new password left it running for good, without a word, and without watching anything."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    file, said = tmp_path / "client.cnf", StringIO()
    with Session(lab.root) as root:
        root.execute("CREATE OR REPLACE USER kept@localhost IDENTIFIED BY 'first'")
        root.execute("GRANT PROCESS, CONNECTION ADMIN ON *.* TO kept@localhost")
        steps: Iterator[Callable[[], None]] = iter(
            [partial(cut_off, root), lambda: None, lambda: None, partial(written, file, lab, "second")]
        )
        written(file, lab, "first")
        observation = keeper.restored

        def looked(server: MariadbServer) -> str:
            next(steps, lambda: None)()
            if said.getvalue().endswith(" again.\n"):
                raise KeyboardInterrupt
            return observation(server)

        monkeypatch.setattr(keeper, "restored", looked)
        monkeypatch.setattr(keeper, "CHECK_EVERY_S", 0.1)
        with pytest.raises(KeyboardInterrupt):
            keep_watch(TuneSettings(dsn=f"F={file}", seconds=60.0), Console(file=said, width=1000))
        root.execute("DROP USER kept@localhost")
    assert said.getvalue().count("Not watching: ") == 1
    assert "denies access to 'kept'" in said.getvalue()
    assert said.getvalue().splitlines()[-1].endswith(" again.")


def cut_off(root: Session) -> None:
    """Gives the account another password and ends its connections."""
    root.execute("ALTER USER kept@localhost IDENTIFIED BY 'second'")
    for (number,) in root.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'kept'"):
        root.execute(f"KILL {number}")


def written(file: Path, lab: Lab, password: str) -> None:
    file.write_text(f"[client]\nuser = kept\npassword = {password}\nsocket = {lab.root.socket}\n")
    file.chmod(0o600)


def leave_behind(server: MariadbServer) -> object:
    """Ends as a killed tuner does; what was in force at first."""
    restoration = MariadbRestoration(server)
    first = restoration.begin("tune", lambda _: None)
    server.apply(first.with_core((16, 9, 40)))
    restoration.close()
    return first
