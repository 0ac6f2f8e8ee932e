"""A fault is planted as often as asked, and what did not hold is counted and told."""

from pathlib import Path

import pytest

from faults import in_words, planted
from poolpilot.errors import ServerError

FLAKY = """
import pytest

runs = []

@pytest.mark.fault
def test_a_thing_that_breaks():
    runs.append(1)
    assert len(runs) != 2, "broke the second time"
"""


def test_names_of_tests_are_the_sentences_of_the_table() -> None:
    assert in_words("tests/a/test_b.py::test_a_keeper_that_is_killed") == "a keeper that is killed"
    assert in_words("tests/a/test_b.py::test_a_broken_service[wrong digest]") == "a broken service (wrong digest)"


def test_every_run_is_counted_and_what_broke_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    row = planted(f"{tmp_path}/test_flaky.py::test_a_thing_that_breaks", 3)
    assert (row["planted"], row["held"]) == (3, 2)
    assert len(row["said"]) == 1
    assert "broke the second time" in row["said"][0]


def test_test_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="could not be run"):
        planted(str(tmp_path / "absent.py"), 1)
