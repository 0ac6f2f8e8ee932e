"""`poolpilot bench`: the experiments of a clone, which the package does not hold."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from poolpilot.errors import SettingError

PROGRAM = Path("benchmarks/run.py")


def bench(
    name: Annotated[str | None, typer.Argument(help="An experiment; none lists them.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The first runs alone, in small.")] = False,
) -> None:
    """Run an experiment of a clone, and write its report and the tables of its pages.

    Raises:
        SettingError: The folder is no clone.
    """
    if not PROGRAM.is_file():
        raise SettingError(f"there is no {PROGRAM} here: experiments are in the repository; call this in a clone of it")
    given = [*([name] if name else []), *(["--quick"] if quick else [])]
    raise typer.Exit(subprocess.run([sys.executable, str(PROGRAM), *given], check=False).returncode)
