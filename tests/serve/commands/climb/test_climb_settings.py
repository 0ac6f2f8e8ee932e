"""Settings of a climb: the command's defaults, the flags, and a file that changes."""

import os
from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.commands.climb.climb_settings import SettingSources, flags_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "climb.toml"
    path.write_text("hcm_eps = 4\n", encoding="utf-8")
    return path


def rewritten(file: Path, text: str) -> None:
    """Writes the file so that nobody can take it for the old one, however coarse the clock."""
    file.write_text(text, encoding="utf-8")
    later_ns = file.stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later_ns, later_ns))


def test_command_climbs_logs_and_samples_evenly_by_default() -> None:
    settings = SettingSources(0.5, None, {}).load()
    assert (settings.hcm_hillclimbing_enabled, settings.hcm_log_enabled, settings.adapt_period) == (True, True, False)
    assert settings.hcm_period == 0.5


def test_period_samples_evenly_unless_a_setting_says_otherwise() -> None:
    settings = SettingSources(0.25, None, flags_of(["hcm_period=3", "adapt_period = on"], 0.5)).load()
    assert (settings.hcm_min_period, settings.hcm_period, settings.adapt_period) == (0.5, 3.0, True)
    fixed = SettingSources(0.25, None, flags_of([], 0.75)).load()
    assert (fixed.hcm_period, fixed.adapt_period) == (0.75, False)


@pytest.mark.parametrize("assignment", ["hcm_eps", "=3", "hcm_eps=", ""])
def test_what_is_no_assignment_is_refused(assignment: str) -> None:
    with pytest.raises(SettingError, match="NAME=VALUE"):
        flags_of([assignment], None)


def test_file_is_read_again_only_when_it_has_changed(file: Path) -> None:
    sources = SettingSources(0.25, file, {})
    assert sources.load().hcm_eps == 4.0
    assert sources.changed() is None
    rewritten(file, "hcm_eps = 6\n")
    changed = sources.changed()
    assert changed is not None
    assert changed.hcm_eps == 6.0
    assert sources.changed() is None


@pytest.mark.parametrize("text", ["hcm_eps: 3", "nothing = 3", "wave_period = 5"])
def test_broken_file_is_said_once_and_read_again_when_repaired(file: Path, text: str) -> None:
    sources = SettingSources(0.25, file, {})
    sources.load()
    rewritten(file, text)
    with pytest.raises(SettingError):
        sources.changed()
    assert sources.changed() is None
    rewritten(file, "hcm_eps = 7.0 # repaired")
    repaired = sources.changed()
    assert repaired is not None
    assert repaired.hcm_eps == 7.0


def test_file_that_is_gone_is_said(file: Path) -> None:
    sources = SettingSources(0.25, file, {})
    sources.load()
    file.unlink()
    with pytest.raises(SettingError, match="there is no settings file"):
        sources.changed()


def test_without_a_file_nothing_changes() -> None:
    sources = SettingSources(0.25, None, {})
    sources.load()
    assert sources.changed() is None
