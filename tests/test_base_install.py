"""The base installation alone: what a production host gets, without the extra [train].

POOLPILOT_BASE_PYTHON names its interpreter; `make test` prepares it and says so.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from poolpilot.serve.commands.command_line.uses import CATALOGUE

WITH_EXTRA = {
    "climb --search": "climb --search --backend curve",
    "evaluate": "evaluate",
    "learn": "learn",
    "learn calibrate": "learn calibrate",
    "learn collect": "learn collect",
    "learn promote": "learn promote",
    "learn train": "learn train",
    "records": "records FOLDER",
    "records --check": "records --check FOLDER",
    "records --sql": "records --sql QUERY FOLDER",
}
"""Uses of commands that need the extra [train], and a line of each."""

IN_BASE = tuple(use for use in CATALOGUE if use not in WITH_EXTRA)
"""Uses that a base installation has, as README tells."""

EXTRA_MODULES = ("botorch", "duckdb", "gymnasium", "mlflow", "pandas", "pyarrow", "ray", "scipy", "sklearn", "torch")

ANSWER_ONCE = """
import asyncio, sys
from pathlib import Path
unpickled = []
sys.addaudithook(lambda event, _: unpickled.append(event) if event.startswith("pickle.") else None)
import structlog
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.application import create_app
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))

async def ask():
    told = []
    body = Path(sys.argv[1]).read_bytes()

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        told.append(message)

    scope = {"type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": "/v1/predict",
             "raw_path": b"/v1/predict", "root_path": "", "query_string": b"", "client": ("client", 1),
             "server": ("service", 80), "headers": [(b"content-type", b"application/json")]}
    await create_app(Advisor.load())(scope, receive, send)
    return told[0]["status"]

print(asyncio.run(ask()), len(unpickled))
"""

EXPLAIN = """
import sys
from poolpilot.serve.commands.command_line.uses import CATALOGUE, found_at
from poolpilot.serve.commands.main import build
command = build()
for name in sys.argv[1:]:
    words = [word for word in name.split() if not word.startswith("--")]
    try:
        command([*words, "--help"])
    except SystemExit as ended:
        print(f"{name}: {ended.code} {callable(found_at(CATALOGUE[name].work))} {bool(CATALOGUE[name].model())}")
"""


PUBLIC = """
import sys
from importlib import import_module
for package in sys.argv[1:]:
    module = import_module(package)
    for name in module.__all__:
        try:
            getattr(module, name)
        except ImportError as error:
            print(f"{name}: {error}")
"""
"""Prints the public names that the base installation cannot give."""

OF_THE_EXTRA = [
    "BayesianOptimisation",
    "BoostedTrees",
    "RecordStore",
    "StagingStore",
    "SweepDataset",
    "UslController",
    "read_dataset",
]


def run(base_python: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(base_python), *arguments]
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def poolpilot(base_python: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(base_python, directory, str(base_python.parent / "poolpilot"), *arguments)


@pytest.mark.parametrize("module", EXTRA_MODULES)
def test_base_lacks_the_extra(base_python: Path, tmp_path: Path, module: str) -> None:
    script = f"import importlib.util; print(importlib.util.find_spec({module!r}))"
    assert run(base_python, tmp_path, "-c", script).stdout.strip() == "None"


def test_help_shows_every_command(base_python: Path, tmp_path: Path) -> None:
    result = poolpilot(base_python, tmp_path, "--help")
    assert result.returncode == 0, result.stderr
    assert [use for use in CATALOGUE if f"│ {use.split()[0]} " not in result.stdout] == []


def test_commands_of_the_base_explain_themselves_and_can_be_run(base_python: Path, tmp_path: Path) -> None:
    result = run(base_python, tmp_path, "-c", EXPLAIN, *IN_BASE)
    assert (result.returncode, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if line.endswith(": 0 True True")]
    assert lines == [f"{name}: 0 True True" for name in IN_BASE]


@pytest.mark.parametrize("use", IN_BASE)
def test_settings_of_the_base_are_explained(base_python: Path, tmp_path: Path, use: str) -> None:
    named = {"tune": ["--set", "backend=simulated"], "serve": ["--set", "port=0"]}.get(use, [])
    result = poolpilot(base_python, tmp_path, "check", "--settings", use, "--defaults", *named)
    assert (result.returncode, result.stderr) == (0, "")
    assert "(default" in result.stdout


@pytest.mark.parametrize("command", WITH_EXTRA.values())
def test_command_that_needs_the_extra_says_what_to_install(base_python: Path, tmp_path: Path, command: str) -> None:
    result = poolpilot(base_python, tmp_path, *command.split())
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "pip install '.[train]'" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [("climb", "--backend", "curve"), ("climb", "--backend", "simulated", "--warm")])
def test_climbs(base_python: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = poolpilot(base_python, tmp_path, *arguments, "--seconds", "5")
    assert (result.returncode, result.stderr) == (0, "")
    assert "In force now" in result.stdout


@pytest.fixture
def body(tmp_path: Path, request_values: dict[str, Any]) -> Path:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(request_values), encoding="utf-8")
    return path


def test_predicts(base_python: Path, tmp_path: Path, body: Path) -> None:
    answer = tmp_path / "answer.json"
    result = poolpilot(base_python, tmp_path, "advise", "--windows", str(body), "--json", str(answer))
    assert result.returncode == 0, result.stderr
    assert json.loads(answer.read_text(encoding="utf-8"))["pool_tuple"]["pool_size"] >= 1


def test_service_answers_without_unpickling_anything(base_python: Path, tmp_path: Path, body: Path) -> None:
    result = run(base_python, tmp_path, "-c", ANSWER_ONCE, str(body))
    assert (result.returncode, result.stdout.split()) == (0, ["200", "0"]), result.stderr


def test_gives_every_public_name_or_says_what_it_needs(base_python: Path, tmp_path: Path) -> None:
    packages = [f"poolpilot.{name}" for name in ("agent", "env", "featurizer", "models", "pipelines", "serve")]
    result = run(base_python, tmp_path, "-c", PUBLIC, *packages)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == OF_THE_EXTRA
    assert all(line.endswith("in a clone of PoolPilot: pip install '.[train]'") for line in lines)
