"""Rows of the MariaDB suite say by what their methods knew; old ones, which do not, are taken up all the same."""

import json
from pathlib import Path

from mariadb_suite import asked_rows
from poolpilot.pipelines.evaluate.suite.suite_run import SuiteRunSettings
from suite_knowledge import knowledge_of, known_by

ASKED = json.dumps([SuiteRunSettings().model_dump(mode="json"), []], sort_keys=True)
OLD = {"workload": "old", "asked": ASKED, "result": {}}
NEW = {"workload": "new", "asked": ASKED, "known_by": {"curves": "a", "champion": "b"}, "result": {}}


def test_row_that_does_not_tell_what_was_known_is_taken_up(tmp_path: Path) -> None:
    runs = tmp_path / "suite.jsonl"
    runs.write_text("".join(json.dumps(row) + "\n" for row in (OLD, NEW)))
    assert [row["workload"] for row in asked_rows(runs, ASKED)] == ["old", "new"]


def test_report_counts_digests_and_rows_that_do_not_tell() -> None:
    assert knowledge_of([OLD, NEW, {**NEW, "workload": "newer"}]) == {
        "digests": {"curves a, champion b": 2},
        "untold": 1,
    }


def test_curves_and_champion_are_told() -> None:
    assert {name: len(digest) for name, digest in known_by().items()} == {"curves": 16, "champion": 16}
