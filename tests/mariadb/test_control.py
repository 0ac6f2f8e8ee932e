"""The session that observes and sets is one of the server that was asked for."""

from dataclasses import replace

import pytest

from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.lab.instance import Lab
from poolpilot.mariadb import control as control_module
from poolpilot.mariadb.control import open_control
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.session import Session


def test_an_extra_port_at_which_another_server_answers_is_not_used(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a tunnel, where the extra port of the server is one of this host. Before, that server was set."""

    def behind_a_tunnel(session: Session) -> ServerIdentity:
        return (
            replace(read_identity(session), hostname="db9")
            if session.where.startswith("127.0.0.1:")
            else read_identity(session)
        )

    monkeypatch.setattr(control_module, "read_identity", behind_a_tunnel)
    account = replace(Dsn(defaults_file=lab.defaults_file).account(), socket=lab.socket, extra_port=None)
    with open_control(account) as control:
        assert (control.session.where, control.extra_port) == (str(lab.socket), None)
        assert "on db9 answers there, and not MariaDB" in control.warnings[0]


def test_what_was_left_out_of_the_option_files_is_told(lab: Lab) -> None:
    account = replace(Dsn(defaults_file=lab.defaults_file).account(), warnings=("a file is left out",))
    with open_control(account) as control:
        assert control.warnings == ("a file is left out",)
