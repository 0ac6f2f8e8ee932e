"""A fault is planted as often as asked, and what did not hold is counted and told."""

from pathlib import Path

import pytest

from experiments.faults import by_test, in_words, planted
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
    test = f"{tmp_path}/test_flaky.py::test_a_thing_that_breaks"
    (row,) = planted(test, [test], 3)
    assert (row["planted"], row["held"]) == (3, 2)
    assert len(row["said"]) == 1
    assert "broke the second time" in row["said"][0]


def test_test_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="could not be run"):
        planted(str(tmp_path / "absent.py"), ["absent"], 1)


SEVERAL = """
import pytest

@pytest.mark.fault
@pytest.mark.parametrize("broken", ["slow", "wrong digest", 2])
def test_a_service_that_breaks(broken):
    assert broken != "wrong digest"
"""


def test_parameters_of_one_test_are_faults_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "test_several.py").write_text(SEVERAL)
    test = f"{tmp_path}/test_several.py::test_a_service_that_breaks"
    faults = [f"{test}[{name}]" for name in ("slow", "wrong digest", "2")]
    assert by_test(faults) == {test: faults}
    rows = planted(test, faults, 3)
    assert [(row["fault"], row["planted"], row["held"]) for row in rows] == [
        (faults[0], 3, 3),
        (faults[1], 3, 0),
        (faults[2], 3, 3),
    ]
