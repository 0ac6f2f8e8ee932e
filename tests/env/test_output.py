"""What commands print comes out as it is, whoever wrote it."""

import ast
import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from poolpilot.env import output
from poolpilot.env.output import terminal, warn

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
