"""What commands print comes out as it is, whoever wrote it."""

import ast
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import LINE_WIDTH, check_folder, make_folder, terminal, warn, write_json
from poolpilot.errors import SettingError

ROOT = Path(__file__).parents[2]
FOLDERS = ("agent", "env", "featurizer", "models", "native_pool/python", "pipelines", "serve")
SENTENCE = "put extra_port=3307 under [mariadb] into /etc/[bold]my.cnf[/bold] :key:"


def test_brackets_and_colons_of_sentences_and_cells_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    console = terminal()
    table = Table(title="[title]", caption="[caption]")
    table.add_column("[heading]")
    table.add_row("[cell]")
    console.print(SENTENCE, soft_wrap=True)
    console.print(table)
    out = capsys.readouterr().out
    for shown in (SENTENCE, "[title]", "[caption]", "[heading]", "[cell]"):
        assert shown in out


def test_brackets_of_a_warning_are_printed_on_any_console() -> None:
    out = io.StringIO()
    warn([SENTENCE], Console(file=out, width=80))
    assert out.getvalue() == f"Warning: {SENTENCE}\n"


def test_no_command_makes_a_console_of_its_own() -> None:
    sources = [path for folder in FOLDERS for path in (ROOT / folder / "poolpilot").rglob("*.py")]
    assert len(sources) > 100
    makers = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console"
    }
    assert makers == {"env/poolpilot/env/output.py"}


def test_a_row_of_json_stands_on_one_line_and_reads_back_the_same(tmp_path: Path) -> None:
    rows = [{"name": f"row {number}", "mean": number / 3, "interval": [0.1, 0.2]} for number in range(9)]
    report: dict[Any, Any] = {
        "rows": rows,
        "numbers": [index / 7 for index in range(100)],
        "nothing": [],
        5: {"inner": {}},
    }
    path = tmp_path / "report.json"
    write_json(path, report)
    lines = path.read_text().splitlines()
    assert json.loads(path.read_text()) == json.loads(json.dumps(report))
    assert sum("row " in line for line in lines) == len(rows)
    assert len(lines) < len(rows) + 30
    assert max(map(len, lines)) <= LINE_WIDTH


def test_what_is_not_finite_becomes_null(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_json(path, {"each": [math.nan, math.inf, 1.5], "in a tuple": (math.nan,)})
    assert json.loads(path.read_text()) == {"each": [None, None, 1.5], "in a tuple": [None]}


def test_what_no_json_can_hold_is_a_defect_and_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    with pytest.raises(TypeError):
        write_json(path, {"gain": object()})
    assert not path.exists()


def test_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    write_json(None, {"gain": 1.0})
    with pytest.raises(SettingError, match=r"cannot write .*table\.json: No such file or directory"):
        write_json(tmp_path / "nowhere" / "table.json", {"gain": 1.0})
    with pytest.raises(SettingError, match="there is no such folder"):
        check_folder(tmp_path / "nowhere" / "table.json")
    with pytest.raises(SettingError, match="it is a folder"):
        check_folder(tmp_path)


def test_folder_is_made_with_those_above_it_and_one_that_is_there_stays(tmp_path: Path) -> None:
    folder = tmp_path / "above" / "out"
    make_folder(folder)
    (folder / "report.json").write_text("{}", encoding="utf-8")
    make_folder(folder)
    assert (folder / "report.json").exists()


def test_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("a page", encoding="utf-8")
    with pytest.raises(SettingError, match=r"README\.md: a file of that name is there"):
        make_folder(file)
    with pytest.raises(SettingError, match=r"cannot make the folder .*/out: Not a directory"):
        make_folder(file / "out")


def test_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(SettingError, match="cannot write to the folder"):
        make_folder(tmp_path)


def test_commands_write_json_by_one_function_alone() -> None:
    """Another one could write NaN, which readers of JSON refuse."""
    commands = (ROOT / "serve/poolpilot/serve/commands").rglob("*.py")
    assert [path.name for path in commands if "json.dump" in path.read_text(encoding="utf-8")] == []
