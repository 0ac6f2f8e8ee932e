"""docs/workload-files.md names every field, word and option of a workload file; what was written from it is one."""

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from poolpilot.lab.datasets import DATASETS
from poolpilot.lab.lab_server import LabPlace
from poolpilot.lab.script_options import OF_EVERY_SCRIPT, OF_OURS, OF_SYSBENCH, ScriptOption, WordOption
from poolpilot.lab.side.side_job import SideJob, SideKind
from poolpilot.lab.sql_workload import Script, SqlClass, SqlWorkload
from poolpilot.native_pool.workload import Op, RequestClass, SessionPriority, Step, WaitKind, Workload
from poolpilot.pipelines.evaluate.live.workload_files import read_stage

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "workload-files.md").read_text(encoding="utf-8")
FILES = sorted((ROOT / "benchmarks" / "workloads").glob("*/*.json"))
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
KINDS = (Workload, RequestClass, Step, SqlWorkload, SqlClass, SideJob)
WORDS = (Script, SideKind, Op, WaitKind, SessionPriority)


def test_every_field_and_word_is_documented() -> None:
    names = {field.name for kind in KINDS for field in fields(kind)} | set(DATASETS)
    words = {word for each in WORDS for word in get_args(each)}
    assert [name for name in sorted(names | words) if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_numbers_that_are_documented_as_defaults_are_those_of_the_code(kind: type) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+)[,|; ]", PAGE, re.MULTILINE))
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name in rows and hints[field.name] in (int, float):
            assert float(rows[field.name]) == field.default, field.name


def told(options: Mapping[str, ScriptOption]) -> list[tuple[str, str]]:
    """Names and defaults of options as a cell of the table of scripts has them."""
    return [
        (name, f"{one.default:g}" if isinstance(one.default, float | int) else one.default)
        for name, one in options.items()
    ]


def cell_of(first: str) -> str:
    """The cell of options in the row of the table that begins so."""
    (row,) = re.findall(rf"^\| {re.escape(first)}[^|]*\|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    return str(row)


@pytest.mark.parametrize(
    ("first", "options"),
    [
        ("`oltp_point_select`", OF_SYSBENCH),
        ("all of them", OF_EVERY_SCRIPT),
        *((f"`{script}`", options) for script, options in OF_OURS.items()),
    ],
)
def test_options_of_scripts_are_those_of_the_code(first: str, options: Mapping[str, ScriptOption]) -> None:
    cell = cell_of(first)
    assert re.findall(r"`(\w+)` (\w+)", cell) == told(options)
    words = [word for one in options.values() if isinstance(one, WordOption) for word in one.words if word != "on"]
    assert [word for word in words if word not in cell] == []


def test_page_has_an_example_of_every_server() -> None:
    assert sorted(json.loads(one)["server"] for one in EXAMPLES) == ["mariadb", "native", "simulated"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: str(json.loads(text)["server"]))
def test_examples_are_workload_files(tmp_path: Path, example: str) -> None:
    file = tmp_path / "example.json"
    file.write_text(example, encoding="utf-8")
    assert read_stage(file, LabPlace()).classes


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.stem))
def test_files_that_were_written_from_the_page_are_taken(file: Path) -> None:
    stage = read_stage(file, LabPlace())
    assert (stage.name, stage.remarks) == (file.stem, ())
