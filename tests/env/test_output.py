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

from poolpilot.env import output
from poolpilot.env.output import LINE_WIDTH, terminal, warn, write_json

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
        path
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console"
    }
    assert makers == {Path(output.__file__)}


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
