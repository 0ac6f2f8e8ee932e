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


def test_what_is_no_journal_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("{}", encoding="utf-8")
    with pytest.raises(StoreError, match=r"cannot read the journal .*--anew"):
        LearningJournal(tmp_path, SETTINGS)
    assert not LearningJournal(tmp_path, SETTINGS, anew=True).resumed
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write the journal"):
        LearningJournal(tmp_path / "file", SETTINGS)
