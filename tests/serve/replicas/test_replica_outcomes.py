"""Each writer has a folder of its own, and takes over that of one that has ended."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import StoreError
from poolpilot.serve.replicas import replica_outcomes
from poolpilot.serve.replicas.replica_outcomes import open_outcomes
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

LARGE = 2**20


def outcome_of(values: dict[str, Any], identifier: str) -> ReportedOutcome:
    return ReportedOutcome.from_json({**values, "id": identifier})


def test_what_two_writers_keep_at_once_is_read_once(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    with open_outcomes(tmp_path, LARGE) as first, open_outcomes(tmp_path, LARGE) as second:
        for identifier in ("a", "b"):
            assert first.append(outcome_of(outcome_values, identifier))
        for identifier in ("b", "c"):
            assert second.append(outcome_of(outcome_values, identifier))
        assert [outcome.id for outcome in read_outcomes(tmp_path)] == ["a", "b", "c"]


def test_the_folder_of_a_writer_that_has_ended_is_taken_over(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    with open_outcomes(tmp_path, LARGE):
        with open_outcomes(tmp_path, LARGE) as second:
            second.append(outcome_of(outcome_values, "a"))
        (torn,) = (tmp_path / "replica-002").glob("*.jsonl")
        with torn.open("ab") as file:
            file.write(b'{"id": "half')
        with open_outcomes(tmp_path, LARGE) as third:
            assert not third.append(outcome_of(outcome_values, "a"))
            assert third.append(outcome_of(outcome_values, "b"))
    assert [outcome.id for outcome in read_outcomes(tmp_path)] == ["a", "b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["replica-001", "replica-002"]


def test_outcomes_of_one_process_are_read_beside_those_of_replicas(
    tmp_path: Path, outcome_values: dict[str, Any]
) -> None:
    with OutcomeLog(tmp_path, LARGE) as alone, open_outcomes(tmp_path, LARGE) as replica:
        replica.append(outcome_of(outcome_values, "b"))
        alone.append(outcome_of(outcome_values, "a"))
    assert [outcome.id for outcome in read_outcomes(tmp_path)] == ["a", "b"]


def test_a_folder_that_cannot_be_written_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "replica-001").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match=r"cannot write to .*replica-001"):
        open_outcomes(tmp_path, LARGE)


def test_more_writers_than_there_may_be_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_outcomes, "MOST_WRITERS", 2)
    with ExitStack() as opened:
        for _ in range(2):
            opened.enter_context(open_outcomes(tmp_path, LARGE))
        with pytest.raises(StoreError, match=r"2 replicas keep outcomes in .* already"):
            open_outcomes(tmp_path, LARGE)
