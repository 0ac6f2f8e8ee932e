"""What a connection tells of the way that it takes."""

import socket
from types import SimpleNamespace

import pytest

from poolpilot.mariadb.session import _is_local


@pytest.mark.parametrize(
    ("theirs", "ours", "local"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.1.1", "127.0.0.1", True),
        ("::1", "::1", True),
        ("10.0.0.5", "10.0.0.5", True),
        ("10.0.0.6", "10.0.0.5", False),
        ("2001:db8::6", "2001:db8::5", False),
    ],
)
def test_this_host_is_known_by_whatever_name_it_is_reached(theirs: str, ours: str, local: bool) -> None:
    """Before, h=db1 on db1 was another host, so that its processors were not known and there was no advice."""
    connected = SimpleNamespace(
        family=socket.AF_INET, getpeername=lambda: (theirs, 3306), getsockname=lambda: (ours, 40_312)
    )
    assert _is_local(connected) is local  # type: ignore[arg-type]


def test_a_socket_leads_nowhere_else() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert _is_local(ours)
