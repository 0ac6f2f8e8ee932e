"""A file of runs can be gone on from, wherever its writer ended."""

import json
from pathlib import Path

import pytest

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


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    with opened_for_more(None) as out:
        keep_run(RUNS[0], out)
    assert list(read_runs(None)) == list(read_runs(tmp_path / "missing")) == []
