"""`poolpilot bench` calls the program of a clone, and says where there is none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from poolpilot.errors import SettingError
from poolpilot.serve.commands.main import build

PROGRAM = "import sys\nprint(sys.argv[1:])\nsys.exit(3)\n"


def test_program_of_the_clone_is_called_with_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "run.py").write_text(f"import pathlib\npathlib.Path('seen').touch()\n{PROGRAM}")
    result = CliRunner().invoke(build(), ["bench", "climbers", "--quick"])
    assert result.exit_code == 3
    assert (tmp_path / "seen").exists()


def test_without_a_clone_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(build(), ["bench"])
    assert isinstance(result.exception, SettingError)
    assert "in a clone" in str(result.exception)
