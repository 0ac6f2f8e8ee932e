"""What lies unread at a port is seen from the kernel's tables, and who has sent nothing is not counted."""

import os
import socket

from tests.mariadb.diagnosis.conftest import until

from poolpilot.mariadb.diagnosis.unread_requests import unread_requests


def test_clients_whose_request_nobody_has_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as sends, socket.create_connection(("127.0.0.1", port)):
            accepted = [listening.accept()[0] for _ in range(2)]
            assert unread_requests(os.getpid(), port) == frozenset()
            sends.sendall(b"SELECT 1")
            until(lambda: len(unread_requests(os.getpid(), port)) == 1)
            (client,) = unread_requests(os.getpid(), port)
            assert int(client.rpartition(":")[2], 16) == sends.getsockname()[1]
            accepted[0].recv(100)
            assert unread_requests(os.getpid(), port) == frozenset()
            for one in accepted:
                one.close()


def test_a_process_that_is_gone_has_none() -> None:
    assert unread_requests(2**22 + 1, 3306) == frozenset()
