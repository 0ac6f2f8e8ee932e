"""Which names and addresses stay on this host."""

import pytest

from poolpilot.env.loopback import is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "::1"])
def test_these_do(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["db1", "127.0.0.1.example.com", "10.0.0.1", "::", "localhost.example.com", ""])
def test_these_do_not(host: str) -> None:
    assert not is_loopback(host)
