"""Readers get whole lines, oldest first, and a sentence where one is no outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import StoreError
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes, segment_path, segments


def line(values: dict[str, Any], identifier: str) -> str:
    return json.dumps({**values, "id": identifier}) + "\n"


def test_segments_are_read_in_order_and_other_files_left_alone(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    for number in (10, 9):
        segment_path(tmp_path, number).write_text(line(outcome_values, f"of-{number}"), encoding="utf-8")
    (tmp_path / "README").write_text("mine", encoding="utf-8")
    (tmp_path / "outcomes-00000011.jsonl.gz").write_text("mine", encoding="utf-8")
    assert [outcome.id for outcome in read_outcomes(tmp_path)] == ["of-9", "of-10"]


def test_line_without_an_end_is_not_there_yet(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    text = line(outcome_values, "a") + line(outcome_values, "b")
    for length in (len(text) - 1, len(text) // 2 + 1, len(text) // 2):
        segment_path(tmp_path, 1).write_text(text[:length], encoding="utf-8")
        assert [outcome.id for outcome in read_outcomes(tmp_path)] == ["a"]


@pytest.mark.parametrize("damaged", ["no JSON", "[]", "{}", "[" * 5000])
def test_line_that_is_no_outcome_is_named(tmp_path: Path, outcome_values: dict[str, Any], damaged: str) -> None:
    text = line(outcome_values, "a") + damaged + "\n"
    segment_path(tmp_path, 1).write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"line 2 of .*outcomes-00000001\.jsonl is no outcome"):
        list(read_outcomes(tmp_path))
    told: list[str] = []
    segment_path(tmp_path, 2).write_text(line(outcome_values, "b"), encoding="utf-8")
    assert [outcome.id for outcome in read_outcomes(tmp_path, told.append)] == ["a", "b"]
    assert len(told) == 1, "who wants to be told goes on without it"
    assert told[0].startswith("line 2 of ")


def test_who_reads_is_told_of_two_that_were_told_to_two_writers(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    for number, verdict in enumerate(("kept", "kept", "rolled back"), 1):
        folder = tmp_path / f"replica-{number:03d}"
        folder.mkdir()
        segment_path(folder, 1).write_text(line({**outcome_values, "verdict": verdict}, "a"), encoding="utf-8")
    told: list[str] = []
    assert [outcome.verdict for outcome in read_outcomes(tmp_path, told.append)] == ["kept"]
    assert len(told) == 1, "a repeat is no other outcome"
    assert told[0].endswith("replica-003/outcomes-00000001.jsonl has the id 'a' of another outcome")
    with pytest.raises(StoreError, match="has the id 'a' of another outcome"):
        list(read_outcomes(tmp_path))


def test_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot read the outcomes in .*: No such file"):
        segments(tmp_path / "nowhere")
