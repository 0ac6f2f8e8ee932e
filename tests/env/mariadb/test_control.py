"""The session that observes and sets is one of the server that was asked for."""

from dataclasses import replace

import pytest

from poolpilot.env.lab.instance import Lab
from poolpilot.env.mariadb.control import open_control
from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.env.mariadb.identity import ServerIdentity
from poolpilot.env.mariadb.session import Session


def test_an_extra_port_at_which_another_server_answers_is_not_used(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a tunnel, where the extra port of the server is one of this host. Before, that server was set."""
    read = ServerIdentity.read

    def behind_a_tunnel(session: Session) -> ServerIdentity:
        return replace(read(session), hostname="db9") if session.where.startswith("127.0.0.1:") else read(session)

    monkeypatch.setattr(ServerIdentity, "read", behind_a_tunnel)
    account = replace(Dsn(defaults_file=lab.defaults_file).account(), socket=lab.socket, extra_port=None)
    with open_control(account) as control:
        assert (control.session.where, control.extra_port) == (str(lab.socket), None)
        assert "on db9 answers there, and not MariaDB" in control.warnings[0]


def test_what_was_left_out_of_the_option_files_is_told(lab: Lab) -> None:
    account = replace(Dsn(defaults_file=lab.defaults_file).account(), warnings=("a file is left out",))
    with open_control(account) as control:
        assert control.warnings == ("a file is left out",)
