"""A load that is stopped sends nothing and goes on where it was; its server is left to answer what it has."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolpilot.pipelines.bench.serving.load_switch import LoadSwitch

STOPPED = "T"
ENDLESS = "while True: pass"


@pytest.fixture
def sender() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is always at work."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS]) as process:
        yield process
        process.kill()


def state_of(pid: int) -> str:
    """How the system calls what a process does."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_senders_stand_still_until_they_go_on(sender: "subprocess.Popen[bytes]") -> None:
    answered = iter(range(0, 100, 3))
    switch = LoadSwitch(sender.pid, [sender.pid], 7, lambda: next(answered))
    switch.stop()
    assert state_of(sender.pid) == STOPPED
    switch.go_on()
    assert state_of(sender.pid) != STOPPED
    assert next(answered) == 12  # 0 when it went on, then until seven more were answered: 3, 6, 9


def test_released_senders_can_be_ended(sender: "subprocess.Popen[bytes]") -> None:
    switch = LoadSwitch(sender.pid, [sender.pid], 1, lambda: 0)
    switch.stop()
    switch.release()
    sender.terminate()
    assert sender.wait(10.0) != 0
