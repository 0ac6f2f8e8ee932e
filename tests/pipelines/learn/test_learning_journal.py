"""The journal keeps what is finished, adds up time, and refuses what is none."""

from pathlib import Path

import pytest

from poolpilot.errors import StoreError
from poolpilot.pipelines.learn.learning_journal import NAME, LearningJournal

SETTINGS = {"minutes": 2.0}


def test_stages_notes_and_time_are_kept(tmp_path: Path) -> None:
    journal = LearningJournal(tmp_path, SETTINGS)
    assert (journal.resumed, journal.result("check")) == (False, None)
    journal.finish("check", {"cpus": 2})
    assert journal.noted("simulated 1", "first", 7) == 7
    with pytest.raises(KeyboardInterrupt), journal.timed("simulated 1"):
        raise KeyboardInterrupt
    spent_s = journal.spent_s("simulated 1")
    again = LearningJournal(tmp_path, SETTINGS)
    assert again.resumed
    assert again.result("check") == {"cpus": 2}
    assert again.noted("simulated 1", "first", 9) == 7
    assert again.spent_s("simulated 1") == spent_s > 0.0


def test_a_finished_run_is_over(tmp_path: Path) -> None:
    journal = LearningJournal(tmp_path, SETTINGS)
    journal.finish("check", {})
    journal.close()
    fresh = LearningJournal(tmp_path, {"minutes": 3.0})
    assert (fresh.resumed, fresh.result("check")) == (False, None)


@pytest.mark.parametrize("content", [b"{}", b"\xff"])
def test_what_is_no_journal_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StoreError, match=r"cannot read the journal .*--anew"):
        LearningJournal(tmp_path, SETTINGS)
    assert not LearningJournal(tmp_path, SETTINGS, anew=True).resumed
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write the journal"):
        LearningJournal(tmp_path / "file", SETTINGS)


@pytest.mark.parametrize("ends", ["given up", "finished"])
def test_mlflow_run_of_the_run_before_is_known_until_the_next_has_one(tmp_path: Path, ends: str) -> None:
    """A process that was killed has ended neither it nor its stages; before, a run given up was forgotten."""
    journal = LearningJournal(tmp_path, SETTINGS)
    assert journal.tracked_runs == []
    journal.tracked_as("before")
    assert LearningJournal(tmp_path, SETTINGS).tracked_runs == ["before"]
    if ends == "finished":
        journal.close()
    anew = ends == "given up"
    assert LearningJournal(tmp_path, SETTINGS, anew=anew).tracked_runs == ["before"]
    later = LearningJournal(tmp_path, SETTINGS, anew=anew)  # killed too, before it had a run
    assert later.tracked_runs == ["before"]
    later.tracked_as("later")
    assert LearningJournal(tmp_path, SETTINGS).tracked_runs == ["before", "later"]
    assert LearningJournal(tmp_path, SETTINGS, anew=True).tracked_runs == ["later"]


def test_mlflow_run_of_other_records_may_be_at_work(tmp_path: Path) -> None:
    """The folder is a copy: the original may be learned in at this moment, and its records are not locked here."""
    LearningJournal(tmp_path, {"store": "/original/records"}).tracked_as("of the original")
    assert LearningJournal(tmp_path, {"store": "/copy/records"}, anew=True).tracked_runs == []
