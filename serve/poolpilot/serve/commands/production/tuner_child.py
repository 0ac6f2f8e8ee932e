"""A tuner or a keeper as a process of its own, which can be killed as one in production can."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel

from poolpilot.errors import ServerError
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE

POOLPILOT = (sys.executable, "-c", "from poolpilot.serve.commands.main import main; main()")
OWN_VARIABLES = "POOLPILOT_TUNE_"
"""Begins the settings of a tuner in the environment, which would change what is shown."""

ENDS_WITHIN_S = 20.0

Say = Callable[[str], None]


class TunerChild:
    """`poolpilot tune` on a server, ended with the block at the latest.

    Args:
        defaults_file: Names the server and the account.
        journals: Folder of the journals, which the keeper reads.
        options: Its flags.
        say: Is told what it prints, line by line.
    """

    def __init__(self, defaults_file: Path, journals: Path, options: Sequence[str], say: Say) -> None:
        self.journals = journals
        """Folder of its journal."""
        self._say = say
        self._spoke = threading.Event()
        self._process = subprocess.Popen(
            [*_tied(), *POOLPILOT, "tune", f"F={defaults_file}", *options],
            env=_environment(journals),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # Ctrl-C is for the demonstration, which ends it in its own order
        )
        self._reader = threading.Thread(target=self._read, name="tuner's lines", daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def until_begun(self, within_s: float) -> None:
        """Waits until it has reached the server, of which its first line tells, or has ended.

        Raises:
            ServerError: It is silent for too long.
        """
        if not self._spoke.wait(within_s):
            raise ServerError(f"the tuner has not begun within {within_s:g} s")

    def kill(self) -> None:
        """Ends it by SIGKILL, as the kernel does where memory is short: it cannot roll anything back."""
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Ends it in order, so that the incumbent is in force, and returns its exit code."""
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._reader.join(ENDS_WITHIN_S)
        return self._process.returncode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip():
                self._say(line.rstrip())
                self._spoke.set()
        self._spoke.set()


def flags_of(section: str, settings: BaseModel) -> list[str]:
    """The flags that give a tuner these settings; for the others it has its own defaults."""
    given = settings.model_dump(mode="json")
    return [f"--set={section}.{name}={value}" for name, value in given.items()]


def _environment(journals: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
    return {**kept, FOLDER_VARIABLE: str(journals), "PYTHONUNBUFFERED": "1"}


def _tied() -> list[str]:
    """A prefix that lets the child end with this process, however that ends."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []
