"""Other work is what the processors do while this program sleeps."""

import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.env.measurement.other_work import busy_share, other_work

QUIET, BUSY = "cpu  100 0 100 800 0 0 0 10 0 0\n", "cpu  250 0 150 900 20 0 0 20 0 0\n"


@pytest.fixture
def stat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Counters of which 330 ticks pass while the program sleeps, 120 of them idle or waiting for the disk."""
    written = tmp_path / "stat"
    written.write_text(QUIET)
    monkeypatch.setattr("time.sleep", lambda _seconds: written.write_text(BUSY))
    return written


def test_share_is_what_was_not_idle(stat: Path) -> None:
    assert busy_share(1.0, stat) == pytest.approx(210 / 330)


def test_a_busy_machine_is_named_with_what_helps(stat: Path) -> None:
    (said,) = other_work(1.0, stat)
    assert "64%" in said
    assert "end them" in said


def test_a_quiet_machine_and_unknown_counters_say_nothing(tmp_path: Path) -> None:
    still = tmp_path / "still"
    still.write_text(QUIET)
    assert other_work(0.0, still) == []
    assert busy_share(0.0, tmp_path / "absent") is None
    assert other_work(0.0, tmp_path / "absent") == []


def test_a_program_beside_this_one_shows() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        share = busy_share(1.0)
        busy.kill()
    assert share is not None
    assert share > 0.0
