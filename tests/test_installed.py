"""`make test` tests the wheel as it is installed, and the wheel holds all that the packages need."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {
    "agent": ROOT / "agent/poolpilot/agent",
    "env": ROOT / "env/poolpilot/env",
    "errors": ROOT / "featurizer/poolpilot/errors",
    "featurizer": ROOT / "featurizer/poolpilot/featurizer",
    "models": ROOT / "models/poolpilot/models",
    "native_pool": ROOT / "native_pool/python/poolpilot/native_pool",
    "pipelines": ROOT / "pipelines/poolpilot/pipelines",
    "serve": ROOT / "serve/poolpilot/serve",
}
COMPILED = {"native_pool": {"_core", "libslow_disk"}}
"""Libraries that a package has besides its sources, without what follows the first dot."""


def folder_of(package: str) -> Path:
    file = import_module(f"poolpilot.{package}").__file__
    assert file is not None
    return Path(file).parent


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so") and path.name != "README.md"
    }


@pytest.mark.parametrize("package", SOURCES)
def test_installation_holds_every_file_of_a_package(package: str) -> None:
    assert files_below(folder_of(package)) == files_below(SOURCES[package])


@pytest.mark.skipif("POOLPILOT_INSTALLED" not in os.environ, reason="not the wheel: `make test` installs and tests it")
@pytest.mark.parametrize("package", SOURCES)
def test_wheel_is_what_is_tested(package: str) -> None:
    installed = Path(os.environ["POOLPILOT_INSTALLED"])
    folder = folder_of(package)
    assert folder.is_relative_to(installed)
    assert {path.name.partition(".")[0] for path in folder.glob("*.so")} == COMPILED.get(package, set())
    imported = [sys.executable, "-c", f"import poolpilot.{package} as package; print(package.__file__)"]
    told = subprocess.run(imported, capture_output=True, text=True, check=True)
    assert Path(told.stdout.strip()).parent == folder


def test_command_of_the_installation_tells_its_version() -> None:
    command = Path(sys.executable).with_name("poolpilot")
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"poolpilot {version('poolpilot')}"
