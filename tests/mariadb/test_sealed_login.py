"""The password is given to nobody who has not proved who he is, whatever he asks for."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pymysql.constants import CLIENT

from poolpilot.errors import ServerError
from poolpilot.mariadb.login.dsn import Account
from poolpilot.mariadb.login.sealed_login import IN_CLEAR
from poolpilot.mariadb.session import Session

PASSWORD = "open sesame €"
SALT = b"12345678", b"123456789012"
CAPABILITIES = CLIENT.PROTOCOL_41 | CLIENT.SECURE_CONNECTION | CLIENT.PLUGIN_AUTH | CLIENT.CONNECT_WITH_DB
SWITCH = 0xFE


def packet(number: int, payload: bytes) -> bytes:
    return struct.pack("<I", len(payload))[:3] + bytes([number]) + payload


def greeting(plugin: str) -> bytes:
    first, second = SALT
    low, high = struct.pack("<I", CAPABILITIES)[:2], struct.pack("<I", CAPABILITIES)[2:]
    head = b"\x0a" + b"10.11.8-MariaDB\0" + struct.pack("<I", 7) + first + b"\0"
    return packet(
        0, head + low + b"\x21\x02\x00" + high + b"\x15" + bytes(10) + second + b"\0" + plugin.encode() + b"\0"
    )


GARBAGE = (
    b"SSH-2.0-OpenSSH_9.2p1\r\n",
    packet(0, b"\x0a"),
    packet(0, b""),
    b"\0" * 64,
    packet(0, b"\x0a10.11.8-MariaDB\0" + bytes(4) + SALT[0] + b"\0" + bytes(2)),
)


@contextmanager
def in_its_place(*answers: bytes) -> Iterator[tuple[Account, bytearray]]:
    """Somebody who listens in a server's place: what to answer, one packet after another, and all that he was told."""
    told = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as one:
                one.settimeout(5.0)
                for answer in answers:
                    one.sendall(answer)
                    told.extend(one.recv(4096))

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Account("me", PASSWORD, port=listener.getsockname()[1]), told
        finally:
            thread.join()


@pytest.mark.parametrize("plugin", IN_CLEAR)
def test_who_asks_for_it_by_a_switch_does_not_get_it(plugin: str) -> None:
    switch = packet(2, bytes([SWITCH]) + plugin.encode() + b"\0" + b"Password: ")
    refused = pytest.raises(ServerError, match=r"asks for the password in clear.*ssl-ca=FILE")
    with in_its_place(greeting("mysql_native_password"), switch) as (account, told), refused:
        Session(account)
    assert b"me" in told
    assert PASSWORD.encode() not in told


@pytest.mark.parametrize("plugin", IN_CLEAR)
def test_nor_does_who_asks_for_it_at_once(plugin: str) -> None:
    refused = pytest.raises(ServerError, match="asks for the password in clear")
    with in_its_place(greeting(plugin)) as (account, told), refused:
        Session(account)
    assert not told


@pytest.mark.parametrize("answer", [*GARBAGE])
def test_who_speaks_otherwise_is_one_sentence(answer: bytes) -> None:
    refused = pytest.raises(ServerError, match=r"does not answer as a MariaDB does|closed the connection|refuses")
    with in_its_place(answer) as (account, _), refused:
        Session(account)


def test_host_that_is_no_name_is_one_sentence() -> None:
    with pytest.raises(ServerError, match=r"cannot reach a server at db\.\.example:3306"):
        Session(Account("me", "", host="db..example"))
