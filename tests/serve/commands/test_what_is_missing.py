"""Without the extra, or without the native module, a command says so in one sentence and leaves nothing behind.

The modules are there and cannot be imported; `tests/test_base_install.py` tries an installation that lacks them.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

EXTRA = (
    *("botorch", "duckdb", "gymnasium", "matplotlib", "mlflow", "pandas", "pyarrow", "ray", "scipy", "sklearn"),
    "torch",
)
NATIVE = ("poolpilot.native_pool._core",)
WITHOUT = """
import sys
blocked = set(sys.argv[1].split(","))
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
sys.argv[:] = ["poolpilot", *sys.argv[2:]]
from poolpilot.serve.commands.main import main
main()
"""
NOBODY = "h=127.0.0.1,P=1"
"""A server that no command reaches."""


def without(modules: Iterable[str], folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", WITHOUT, ",".join(modules), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn",),
        ("learn", "calibrate"),
        ("evaluate",),
        ("climb", "--search", "--backend", "curve"),
        ("climb", "--search", "--backend", "curve", "--set", "method=random"),
        ("climb", "--search", NOBODY, "--execute"),
        ("learn", "train"),
    ],
    ids=" ".join,
)
def test_command_that_needs_the_extra_names_it_before_anything_is_touched(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    result = without(EXTRA, tmp_path, *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("poolpilot: this command needs '")
    assert result.stderr.endswith("in a clone of PoolPilot: pip install '.[train]'\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("--help",), ("climb", "--help"), ("learn", "--help")], ids=" ".join)
def test_help_needs_no_extra(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = without(EXTRA, tmp_path, *arguments)
    assert (result.returncode, result.stderr) == (0, "")


def test_preview_of_a_search_needs_no_extra(tmp_path: Path) -> None:
    """It reaches for the server, which is not there: with the extra missing that is the first thing to be said."""
    result = without(EXTRA, tmp_path, "climb", "--search", NOBODY)
    assert (
        result.stderr
        == "poolpilot: cannot reach a server at 127.0.0.1:1: Connection refused; check host, port or socket\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [("climb", "--backend", "curve"), ("demo",), ("advise", "--simulate", "profile.json"), ("learn", "train")],
    ids=" ".join,
)
def test_installation_without_the_native_module_says_so(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = without(NATIVE, tmp_path, *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("poolpilot: the native module poolpilot.native_pool._core cannot be loaded")
    assert result.stderr.endswith("in a clone of PoolPilot: pip install .\n")
