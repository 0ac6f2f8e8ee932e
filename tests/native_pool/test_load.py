"""The load generator's process, driven through its handle against a small server in this process."""

import json
import os
import signal
import socket
import socketserver
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from poolpilot.errors import LoadError
from poolpilot.native_pool import LoadGenerator
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_handle import CHILD
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Step, Workload

REQUEST = struct.Struct("<IBBHQQHH")
RESPONSE = struct.Struct("<IBBHQ")
FEW_STEPS = (
    Step("acquire", latch=3, spread=4),
    Step("cpu", us=50.0, variation=1.0),
    Step("release", latch=3, spread=4),
)


class Echo(socketserver.StreamRequestHandler):
    """Answers every request, or only the first of a connection and closes it."""

    def handle(self) -> None:
        with suppress(ConnectionError):  # of a client that was killed
            self.answer()

    def answer(self) -> None:
        assert isinstance(self.server, Threads)
        while header := self.rfile.read(REQUEST.size):
            length, version, _, class_id, request_id, _, _, _ = REQUEST.unpack(header)
            self.rfile.read(4 + length - REQUEST.size)
            self.wfile.write(RESPONSE.pack(RESPONSE.size - 4, version, 0, class_id, request_id))
            with self.server.lock:
                self.server.answered += 1
                self.server.lock.notify_all()
            if self.server.closes:
                return


class Threads(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A thread per connection; counts the requests answered."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: Any, *, family: int = socket.AF_INET, closes: bool = False) -> None:
        self.address_family = family
        self.lock = threading.Condition()
        self.answered = 0
        self.closes = closes
        super().__init__(address, Echo)

    def wait_for(self, requests: int) -> None:
        with self.lock:
            assert self.lock.wait_for(lambda: self.answered >= requests, timeout=60.0)


@contextmanager
def serving(server: Threads) -> Iterator[Threads]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server() -> Iterator[Threads]:
    with serving(Threads(("127.0.0.1", 0))) as running:
        yield running


def address_of(server: Threads) -> str:
    return f"tcp:127.0.0.1:{server.server_address[1]}"


def workload(*, connections: int = 4, rate_per_s: float | None = None, steps: tuple[Step, ...] = FEW_STEPS) -> Workload:
    classes = (RequestClass("short", (), share=1.0), RequestClass("long", steps, share=3.0, think_ms=0.5))
    return Workload("w", "f", classes, connections=connections, rate_per_s=rate_per_s)


def assert_all_answered(report: LoadReport) -> None:
    assert report.sent == report.completed > 0
    assert (report.failed, report.lost, report.unexpected, report.backlog, report.dropped) == (0, 0, 0, 0, 0)
    assert report.errors == {}
    for one in report.classes.values():
        assert one.latency_counts.sum() == one.completed


def test_the_process_gets_every_native_setting_and_no_other() -> None:
    assert LoadSettings().of_child() == {row["name"]: row["default"] for row in LoadGenerator.fields()}
    with pytest.raises(ValidationError, match="backlog_limit"):
        LoadSettings(backlog_limit=-1)


def test_a_closed_loop_over_tcp_answers_all_it_sends(server: Threads) -> None:
    with Load(address_of(server), workload(), settings=LoadSettings(ramp_s=0.0)) as load:
        server.wait_for(200)
        during = load.report()
        final = load.stop()
    assert during.connections == 4
    assert 0 < during.completed <= final.completed
    assert during.time_s < final.time_s
    assert 0.0 < during.process_cpu_s <= final.process_cpu_s
    assert_all_answered(final)
    assert final.connections == 0
    assert final.classes.keys() == {"short", "long"}
    assert min(one.sent for one in final.classes.values()) > 0


def test_a_unix_socket_carries_the_load_too(tmp_path: Path) -> None:
    path = str(tmp_path / "pool.socket")
    with serving(Threads(path, family=socket.AF_UNIX)) as server, Load(f"unix:{path}", workload()) as load:
        server.wait_for(50)
        assert_all_answered(load.stop())


def test_an_open_loop_follows_a_new_rate(server: Threads) -> None:
    with Load(address_of(server), workload(rate_per_s=0.001)) as load:
        load.set_rate(1000.0)
        server.wait_for(100)
        with pytest.raises(LoadError, match=r"rate_per_s is -1, but must be in 0\.001\.\.1000000$"):
            load.set_rate(-1.0)
        assert_all_answered(load.stop())


def test_a_closed_loop_has_no_rate(server: Threads) -> None:
    with Load(address_of(server), workload()) as load:
        with pytest.raises(LoadError, match="closed loop has no rate"):
            load.set_rate(10.0)
        assert load.report().connections == 4


def test_stop_is_final_and_can_be_repeated(server: Threads) -> None:
    with Load(address_of(server), workload()) as load:
        server.wait_for(1)
        final = load.stop()
        assert load.stop() is final
        assert load.report() is final
        with pytest.raises(LoadError, match="has ended"):
            load.set_rate(1.0)


def test_connections_closed_by_the_server_are_counted() -> None:
    with serving(Threads(("127.0.0.1", 0), closes=True)) as server:
        with Load(address_of(server), workload(connections=2)) as load:
            while load.report().connections:
                time.sleep(0.01)
            final = load.stop()
        assert sum(final.errors.values()) == 2
        assert final.errors.keys() <= {"closed_by_server", "connection_reset"}
        assert final.sent == final.completed + final.lost


def test_every_process_is_pinned_where_told(server: Threads) -> None:
    cpu = min(os.sched_getaffinity(0))
    settings = LoadSettings(processes=2)
    with Load(address_of(server), workload(), cpus={cpu}, settings=settings) as load:
        assert [os.sched_getaffinity(pid) for pid in load.pids] == [{cpu}, {cpu}]


def refused(address: str, offered: Workload, **options: Any) -> str:
    with pytest.raises(LoadError) as caught:
        Load(address, offered, **options)
    return str(caught.value)


def test_what_cannot_start_is_told_in_one_sentence(server: Threads, capfd: pytest.CaptureFixture[str]) -> None:
    address = address_of(server)
    assert "check that the pool server listens there" in refused("unix:/nonexistent/socket", workload())
    assert "no loopback address" in refused("tcp:192.0.2.1:5000", workload())
    crowd, wild = workload(connections=70_000), workload(steps=(Step("acquire", latch=64),))
    assert refused(address, crowd).endswith("number of connections is 70000, but must be in 1..65536")
    assert refused(address, wild).endswith("step 0 latch is 64, but must be in 0..63")
    assert "Cannot pin the load process to processors [1023]" in refused(address, workload(), cpus={1023})
    assert capfd.readouterr().err == ""


def test_a_process_that_dies_is_named(server: Threads) -> None:
    with Load(address_of(server), workload()) as load:
        os.kill(load.pids[0], signal.SIGKILL)
        with pytest.raises(LoadError, match="ended"):
            load.report()


def test_leaving_the_block_of_a_dead_process_is_an_error(server: Threads) -> None:
    with pytest.raises(LoadError, match="ended"), Load(address_of(server), workload()) as load:
        os.kill(load.pids[0], signal.SIGKILL)


def test_a_process_that_does_not_answer_is_ended(server: Threads) -> None:
    settings = LoadSettings(reply_timeout_s=0.2)
    with Load(address_of(server), workload(), settings=settings) as load:
        os.kill(load.pids[0], signal.SIGSTOP)
        with pytest.raises(LoadError, match="does not answer"):
            load.report()
        with pytest.raises(LoadError, match="ended"):
            load.stop()
        assert not Path(f"/proc/{load.pids[0]}").exists()


def replies_to(*lines: str) -> tuple[list[dict[str, Any]], int]:
    """What the process answers when its stdin holds these lines and then ends."""
    done = subprocess.run(CHILD, input="\n".join(lines), capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def config_for(server: Threads) -> str:
    settings = LoadSettings().of_child()
    values = {"address": address_of(server), "workload": workload().as_dict(), "cpus": None, "settings": settings}
    return json.dumps({**values, "part": 0, "parts": 1})


BEGIN = '{"command": "begin"}'


@pytest.mark.parametrize("commands", [(), (BEGIN,)])
def test_the_end_of_stdin_is_a_stop(server: Threads, commands: tuple[str, ...]) -> None:
    (ready, *_, final), status = replies_to(config_for(server), *commands)
    assert ready == {"connected": True}
    assert final["report"]["connections"] == 0
    assert status == 0


def test_nothing_is_sent_before_the_beginning(server: Threads) -> None:
    (_, before, *_), status = replies_to(config_for(server), '{"command": "report"}')
    assert before["report"]["connections"] == 4
    assert all(one["sent"] == 0 for one in before["report"]["classes"].values())
    assert server.answered == 0
    assert status == 0


def test_bad_lines_are_answered_and_survived(server: Threads) -> None:
    wrong = ("no json", "{}", '{"command": "dance"}', '{"command": "rate"}', BEGIN)
    replies, status = replies_to(config_for(server), BEGIN, *wrong)
    assert ["error" in reply for reply in replies] == [False, False, True, True, True, True, True, False]
    assert "knows no command 'dance'" in replies[4]["error"]
    assert status == 0


def test_without_configuration_it_ends_with_an_error() -> None:
    (reply,), status = replies_to("")
    assert reply["error"]
    assert status == 1
