"""docs/man/poolpilot.1 is what the command says today, and a manual page."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs/man"

PAGE = FOLDER / "poolpilot.1"


def test_page_is_what_the_command_says(tmp_path: Path) -> None:
    written = tmp_path / "poolpilot.1"
    subprocess.run([sys.executable, FOLDER / "manual_page.py", written], check=True)
    assert written.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8"), "run `make man` and commit the page"


def test_page_has_no_warnings() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff, which checks the manual page, is not installed")
    shown = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", PAGE], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stderr == ""
