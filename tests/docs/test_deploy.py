"""The container file and the systemd unit fit the repository, and let the service do no more than it must."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")

UNIT = ROOT / "docs/deploy/poolpilot.service"

MOST_EXPOSURE = 1.5
"""Greatest rating of `systemd-analyze security` that is taken; 10 is exposed."""


def copied() -> list[str]:
    lines = [line.split()[1:-1] for line in CONTAINER.splitlines() if line.startswith("COPY ") and "--from" not in line]
    return [path for paths in lines for path in paths]


def test_container_copies_what_there_is() -> None:
    assert [path for path in copied() if not (ROOT / path).exists()] == []


def test_container_copies_every_source_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = project["tool"]["scikit-build"]["wheel"]["packages"].values()
    built = re.findall(r"(?:add_subdirectory|install)\((?:FILES )?([\w/.]+)", (ROOT / "CMakeLists.txt").read_text())
    needed = [*sources, *built, "pyproject.toml", "constraints.txt", "CMakeLists.txt"]
    assert [
        path for path in needed if not any(path == given or path.startswith(f"{given}/") for given in copied())
    ] == []


def test_container_installs_as_the_readme_says() -> None:
    assert "pip install .  " in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"/bin/pip install --no-cache-dir -c constraints\.txt \.$", CONTAINER, re.MULTILINE)


def test_container_names_no_registry_and_no_rights() -> None:
    images = re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)
    assert set(images) == {"python:3.11-slim"}
    assert CONTAINER.index("\nUSER poolpilot\n") < CONTAINER.index('\nENTRYPOINT ["poolpilot"]\nCMD ["serve"]\n')


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that there is here."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze, which checks the unit, is not installed")
    text = UNIT.read_text(encoding="utf-8")
    assert "\nExecStart=/opt/poolpilot/bin/poolpilot serve\n" in text
    path = tmp_path / UNIT.name
    path.write_text(text.replace("/opt/poolpilot/bin/poolpilot", str(Path(sys.executable).with_name("poolpilot"))))
    return path


def test_unit_is_valid(unit: Path) -> None:
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False, timeout=60
    )
    assert (verified.returncode, verified.stderr) == (0, "")


def test_unit_gives_the_service_few_rights(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--no-pager", "--offline=yes", str(unit)]
    rated = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", rated.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSURE
