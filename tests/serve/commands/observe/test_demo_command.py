"""A demonstration that could not keep what it shows is refused at once; one that is ended leaves nothing behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import short_folder
from tests.serve.commands.staged_server import POOLPILOT
from tests.serve.commands.started_processes import await_ends, descendants, program_of

from poolpilot.lab.instance import Lab
from poolpilot.pipelines.demo.phases import WorkloadDemo

Invoke = Callable[..., Any]
PATIENCE_S = 200.0


@pytest.fixture(autouse=True)
def _nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(_self: WorkloadDemo) -> None:
        raise AssertionError("it has begun to measure")

    monkeypatch.setattr(WorkloadDemo, "run", begun)


@pytest.mark.parametrize("place", [(), ("--mariadb",)])
def test_output_that_is_a_file_is_one_sentence(invoke: Invoke, tmp_path: Path, place: tuple[str, ...]) -> None:
    file = tmp_path / "README.md"
    file.write_text("a page", encoding="utf-8")
    result = invoke("demo", *place, "--output", file)
    assert result.code == 1
    assert "a file of that name is there" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("place", [(), ("--mariadb",)])
def test_table_in_a_folder_that_there_is_not_is_one_sentence(
    invoke: Invoke, tmp_path: Path, place: tuple[str, ...]
) -> None:
    result = invoke("demo", *place, "--output", tmp_path / "out", "--json", tmp_path / "nosuch" / "x.json")
    assert result.code == 1
    assert "there is no such folder" in result.err
    assert result.err.count("\n") == 1


def await_load(process: "subprocess.Popen[str]") -> list[int]:
    """The processes of a demonstration once its load runs."""
    ends_s = time.monotonic() + PATIENCE_S
    while "sysbench" not in map(program_of, started := list(descendants(process.pid))):
        assert process.poll() is None
        assert time.monotonic() < ends_s, "no load was started"
        time.sleep(0.1)
    return started


@pytest.mark.usefixtures("mariadb_installed")
def test_closed_terminal_stops_load_and_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, output = short_folder(tmp_path_factory), tmp_path_factory.mktemp("out")
    command = [*POOLPILOT, "demo", "--mariadb", "--set", f"place.folder={folder}", "--output", str(output)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(output)},
    ) as process:
        try:
            started = await_load(process)
            process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            process.send_signal(signal.SIGHUP)  # one comes from the terminal, one from its shell
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    await_ends(started)
    assert Lab.of(folder / "small").running() is None
    assert not list(output.glob("poolpilot-load-*"))
