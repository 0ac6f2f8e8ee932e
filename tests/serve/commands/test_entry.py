"""A signal ends `poolpilot` with 130 and no traceback from its first line on."""

import signal
import subprocess
import sys

import pytest

from poolpilot.env.interrupts import ENDING
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

AWAITED = """
import sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            print("there", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Slow())
sys.argv[1:] = ["--version"]
from poolpilot.serve.commands.entry import main
main()
"""
"""`poolpilot --version` that waits where it imports a module."""

OVER = """
import atexit, sys, time
atexit.register(lambda: (print("there", flush=True), sys.stdin.readline()))
sys.argv[1:] = ["no-such-command"]
from poolpilot.serve.commands.entry import main
main()
"""
"""One that waits while the interpreter is taken down, after what the entry has left for that moment."""


def started(program: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    return process


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
@pytest.mark.parametrize("name", ["poolpilot.serve.commands.main", "typer", "pydantic"])
def test_signal_in_the_middle_of_an_import(number: signal.Signals, name: str) -> None:
    process = started(AWAITED.format(name=name))
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (INTERRUPTED, "")


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_one_that_is_over_keeps_its_exit_code(number: signal.Signals) -> None:
    process = started(OVER)
    process.send_signal(number)
    _, err = process.communicate("\n", timeout=30)
    assert process.returncode == 2
    assert "Traceback" not in err
