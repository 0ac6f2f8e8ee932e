"""Outcomes are taken in once, with their propensities, and read back as they were."""

import json
from pathlib import Path

import pytest
from tests.pipelines.production.conftest import outcome

from poolpilot.models.body import as_body
from poolpilot.pipelines.production.outcome_store import OutcomeStore

DIGEST, OTHER = "ab" * 32, "cd" * 32


def test_taken_in_once_and_read_back_as_they_were(tmp_path: Path) -> None:
    store = OutcomeStore(tmp_path)
    given = [outcome(number, DIGEST, 0.1 * number, propensity=0.25) for number in range(3)]
    assert store.take_in([*given, given[0]]) == 3
    assert store.take_in([*given, outcome(9, DIGEST, 0.0)]) == 1
    assert list(OutcomeStore(tmp_path).read()) == [*given, outcome(9, DIGEST, 0.0)]


def test_a_store_without_outcomes_has_none(tmp_path: Path) -> None:
    store = OutcomeStore(tmp_path / "nothing")
    assert list(store.read()) == []
    assert store.gains([DIGEST]) == {}
    assert store.take_in([]) == 0
    assert not (tmp_path / "nothing").exists()


def test_what_was_rolled_back_has_gained_nothing_and_what_was_not_tried_does_not_count(tmp_path: Path) -> None:
    store = OutcomeStore(tmp_path)
    store.take_in(
        [
            outcome(1, DIGEST, 0.2),
            outcome(2, DIGEST, -0.3, "rolled back"),
            outcome(3, DIGEST, 0.4, "rolled back"),
            outcome(4, DIGEST, 0.5, "not tried"),
            outcome(5, DIGEST, 0.6, server_id="other"),
            outcome(6, OTHER, 0.7),
        ]
    )
    gains = store.gains([DIGEST])
    assert gains["db"] == pytest.approx([0.2, -0.3, 0.0])
    assert gains["other"] == pytest.approx([0.6])
    with store.connect() as views:
        (mean,) = views.execute("SELECT avg(propensity * gain) FROM outcomes WHERE verdict = 'kept'").fetchall()[0]
    assert mean == pytest.approx(0.5)


def test_what_another_version_has_kept_is_left_out_and_told(tmp_path: Path) -> None:
    store = OutcomeStore(tmp_path)
    given = [outcome(number, DIGEST, 0.1) for number in range(2)]
    store.take_in(given)
    row = outcome(7, DIGEST, 0.1).as_row('{"schema_version": 0}')
    store.records.append([row], "older")
    told = list[str]()
    assert list(store.read(told.append)) == given
    assert len(told) == 1
    assert row["id"] in told[0]


def test_what_a_release_of_before_calls_taken_back_was_rolled_back(tmp_path: Path) -> None:
    store, given = OutcomeStore(tmp_path), outcome(1, DIGEST, 0.4, "rolled back")
    row = dict(given.as_row(json.dumps(as_body((given.before, given.after), given.limits, given.objective))))
    store.records.append([row | {"verdict": "taken back"}], "older")
    assert list(store.read()) == [given]
    assert store.gains([DIGEST]) == {"db": [0.0]}
