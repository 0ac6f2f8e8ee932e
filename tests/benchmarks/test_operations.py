"""A service and a writer of records that are killed at random moments lose nothing that they have acknowledged."""

from experiments.operations import sums
from harness.experiment import Row, Task
from operations.killed_service import outcomes_lost
from operations.killed_store import rows_lost


def test_no_outcome_that_was_acknowledged_is_lost() -> None:
    found = outcomes_lost(kills=5, seed=7)
    assert found["acknowledged"] > 0
    assert found["answers"]["none"] >= 5, "every kill breaks connections"
    assert (found["lost"], found["there_twice"]) == (0, 0)
    assert set(found["answers"]) <= {"200", "201", "none"}


def test_no_row_that_was_acknowledged_is_lost_and_views_are_the_same() -> None:
    found = rows_lost(kills=5, seed=3)
    assert found["acknowledged"] > 0
    assert (found["lost"], found["there_twice"], found["torn"], found["rows_of_no_whole_segment"]) == (0, 0, 0, 0)
    assert found["views_made_again_are_the_same"] is True


def test_counts_of_all_runs_are_added_up_by_writer() -> None:
    one = {"kills": 10, "acknowledged": 5, "lost": 0, "there_twice": 1, "torn": 4}
    rows = [Row(Task(arm, "SIGKILL", seed), one) for seed in (1, 2) for arm in ("service", "store")]
    twice = {"kills": 20, "acknowledged": 10, "lost": 0, "there_twice": 2}
    assert sums(rows) == {"service": twice, "store": twice}
