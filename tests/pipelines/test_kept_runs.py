"""A file of runs can be gone on from, wherever its writer ended."""

import json
from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs

RUNS = [{"name": "a", "values": [1, 2]}, ["b", {"value": float("inf")}]]


def test_runs_are_read_as_they_were_kept(tmp_path: Path) -> None:
    kept = tmp_path / "deep" / "runs.jsonl"
    for run in RUNS:
        with opened_for_more(kept) as out:
            keep_run(run, out)
    assert list(read_runs(kept)) == RUNS


@pytest.mark.parametrize("lost", [2, 3, 10])
def test_what_was_torn_is_left_out_and_what_follows_is_read(tmp_path: Path, lost: int) -> None:
    kept = tmp_path / "runs.jsonl"
    kept.write_text("".join(json.dumps(run) + "\n" for run in RUNS)[:-lost])
    with opened_for_more(kept) as out:
        keep_run("next", out)
    assert list(read_runs(kept)) == [RUNS[0], "next"]


def test_line_that_is_nested_too_deeply_is_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    kept.write_text(json.dumps(RUNS[0]) + "\n" + "[" * 100_000 + "\n")
    assert list(read_runs(kept)) == [RUNS[0]]


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    with opened_for_more(None) as out:
        keep_run(RUNS[0], out)
    assert list(read_runs(None)) == list(read_runs(tmp_path / "missing")) == []


@pytest.mark.parametrize(
    "content",
    [
        b"my notes\nof today\n",
        b"my notes",
        b"[files.run]\nbudget_s = 1.0\n",
        b'{\n "workloads": 2,\n "rows": [\n  {"a": 1}\n ]\n}\n',
        b"\x89PNG\r\n\x1a\n",
    ],
    ids=["notes", "without a line end", "settings", "laid out JSON", "picture"],
)
def test_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    """Before, runs were appended to whatever it was."""
    kept = tmp_path / "mine"
    kept.write_bytes(content)
    with pytest.raises(SettingError, match=r"mine is no file of runs.*name a new file"):
        list(read_runs(kept))
    with pytest.raises(SettingError, match="is no file of runs"), opened_for_more(kept):
        pass
    assert kept.read_bytes() == content


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"cannot read the file of runs .*: Is a directory"):
        list(read_runs(tmp_path))


@pytest.mark.parametrize("content", ["", "\n", '{"a', '{"a\n', '{"a\n["b', "3\n", 'torn\n{"a": 1}\n'])
def test_empty_file_and_first_runs_that_were_torn_are_gone_on_from(tmp_path: Path, content: str) -> None:
    kept = tmp_path / "runs.jsonl"
    kept.write_text(content)
    with opened_for_more(kept) as out:
        keep_run(RUNS[0], out)
    assert list(read_runs(kept))[-1] == RUNS[0]
