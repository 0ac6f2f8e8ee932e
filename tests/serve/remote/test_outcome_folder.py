"""A folder that takes what a service takes: on disk when it returns, and no report is taken for another."""

import os
from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import RefusedForGoodError, StoreError
from poolpilot.serve.remote.outcome_folder import OutcomeFolder
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome


def test_what_it_has_taken_is_what_a_service_would_keep(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    with OutcomeLog(tmp_path, 2**20) as log:
        folder = OutcomeFolder(log)
        for _ in range(2):  # one that is sent again is there once
            folder.post("/v1/outcomes", outcome_values)
        assert list(read_outcomes(tmp_path)) == [ReportedOutcome.from_json(outcome_values)]


def test_what_is_no_outcome_is_refused_for_good(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    with OutcomeLog(tmp_path, 2**20) as log, pytest.raises(RefusedForGoodError, match="propensity"):
        OutcomeFolder(log).post("/v1/outcomes", {**outcome_values, "propensity": 0})
    assert list(read_outcomes(tmp_path)) == []


def test_another_outcome_of_a_known_name_is_refused_for_good(tmp_path: Path, outcome_values: dict[str, Any]) -> None:
    with OutcomeLog(tmp_path, 2**20) as log:
        OutcomeFolder(log).post("/v1/outcomes", outcome_values)
        with pytest.raises(RefusedForGoodError, match="another outcome"):
            OutcomeFolder(log).post("/v1/outcomes", {**outcome_values, "verdict": "not tried"})
        assert list(read_outcomes(tmp_path)) == [ReportedOutcome.from_json(outcome_values)]


def test_disk_that_is_full_may_take_it_later(
    tmp_path: Path, outcome_values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with OutcomeLog(tmp_path, 2**20) as log:
        folder = OutcomeFolder(log)
        with monkeypatch.context() as full:
            full.setattr(os, "fsync", fail)
            with pytest.raises(StoreError, match="No space left on device"):
                folder.post("/v1/outcomes", outcome_values)
        assert list(read_outcomes(tmp_path)) == []
        folder.post("/v1/outcomes", outcome_values)
    assert len(list(read_outcomes(tmp_path))) == 1
