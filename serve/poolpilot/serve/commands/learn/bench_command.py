"""`poolpilot bench`: the experiments of a clone, which the package does not hold."""

import subprocess
import sys
from pathlib import Path

import typer

from poolpilot.errors import SettingError

PROGRAM = Path("benchmarks/run.py")


def bench(name: str | None, *, quick: bool) -> None:
    """Runs an experiment of a clone, and writes its report and the tables of its pages.

    Args:
        name: The experiment; None lists them.
        quick: Whether the first runs alone are made, in small.

    Raises:
        SettingError: The folder is no clone.
        Exit: With the exit code of the experiment.
    """
    if not PROGRAM.is_file():
        raise SettingError(f"there is no {PROGRAM} here: experiments are in the repository; call this in a clone of it")
    given = [*([name] if name else []), *(["--quick"] if quick else [])]
    raise typer.Exit(subprocess.run([sys.executable, str(PROGRAM), *given], check=False).returncode)
