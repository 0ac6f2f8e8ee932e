"""Settings of a climb: the command's defaults, the order of the sources, both names, and a file that changes."""

import os
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.climbing.spectral import NATIVE_NAMES
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralSettings
from poolpilot.serve.commands.climb.climb_run_settings import ClimbRunSettings, SettingsWatch


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "climb.toml"
    path.write_text("hcm_hiccup = 4\n", encoding="utf-8")
    return path


def loaded(file: Path | None = None, *assignments: str, **flags: Any) -> SpectralSettings:
    return ClimbRunSettings.load(file, flags, assignments).native()


def rewritten(file: Path, text: str) -> None:
    """Writes the file so that nobody can take it for the old one, however coarse the clock."""
    file.write_text(text, encoding="utf-8")
    later_ns = file.stat().st_mtime_ns + 1_000_000_000
    os.utime(file, ns=(later_ns, later_ns))


@pytest.mark.parametrize("name", [*NATIVE_NAMES, *NATIVE_NAMES.values()])
def test_every_setting_of_the_climber_is_assigned_by_both_its_names(name: str) -> None:
    native = NATIVE_NAMES.get(name, name)
    changed, default = loaded(None).as_dict()[native], SpectralSettings().as_dict()[native]
    assert loaded(None, f"{name}={str(changed).lower()}").as_dict()[native] == changed
    assert type(changed) is type(default)


def test_command_climbs_logs_and_samples_evenly_by_default() -> None:
    settings = loaded(dsn="h=db1")
    assert (settings.hcm_hillclimbing_enabled, settings.hcm_log_enabled) == (True, True)
    assert (settings.hcm_min_period, settings.hcm_period, loaded().hcm_period) == (0.5, 0.5, 0.25)
    assert settings.log_limit == 50_000


def test_period_samples_evenly_unless_a_setting_says_otherwise() -> None:
    settings = loaded(None, "hcm_period = 3", period=0.5)
    assert (settings.hcm_min_period, settings.hcm_period) == (0.5, 3.0)
    fixed = loaded(period=0.75)
    assert fixed.hcm_min_period == fixed.hcm_period == 0.75


@pytest.mark.parametrize("name", ["hiccup_s", "hcm_hiccup"])
def test_both_names_of_a_setting_are_one_in_every_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / "climb.toml"
    file.write_text("hcm_hiccup = 1\nconfidence = 2.5\n", encoding="utf-8")
    monkeypatch.setenv(f"POOLPILOT_CLIMB_{name.upper()}", "2")
    settings = loaded(file)
    assert (settings.hcm_hiccup, settings.confidence) == (2.0, 2.5)
    assert loaded(file, **{name: "3"}).hcm_hiccup == 3.0
    assert loaded(file, f"{name}=4", hiccup_s=3.0).hcm_hiccup == 4.0


def test_names_without_the_prefix_of_the_command_are_somebody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HICCUP_S", "7")
    monkeypatch.setenv("HCM_HICCUP", "7")
    assert loaded().hcm_hiccup == 1.5


def test_types_are_kept() -> None:
    values = loaded(None, "scan_rounds=6", "log_enabled=off", "hcm_period=3").as_dict()
    assert [values[name] for name in ("scan_rounds", "hcm_log_enabled", "hcm_period")] == [6, False, 3.0]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"wave_periods": 4}, "setting 'wave_periods': there is no such setting"),
        ({"scan_rounds": 4.5}, r"'scan_rounds'.*integer"),
        ({"trubs_method": "perhaps"}, "'trubs_method'.*boolean"),
        ({"hcm_hiccup": "inf"}, "'hcm_hiccup'.*finite"),
        ({"eps": 3}, "^setting 'eps' is a constant of the climber now: leave it out$"),
        ({"hiccup_s": -1}, "'hiccup_s'.*greater"),
    ],
)
def test_refused_values_name_the_setting(flags: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        loaded(**flags)
    with pytest.raises(SettingError, match=says):
        loaded(None, *(f"{name}={value}" for name, value in flags.items()))


@pytest.mark.parametrize("assignment", ["hcm_hiccup", "=3", "hcm_hiccup=", ""])
def test_what_is_no_assignment_is_refused(assignment: str) -> None:
    with pytest.raises(SettingError, match="NAME=VALUE"):
        loaded(None, assignment)


def test_file_is_read_again_only_when_it_has_changed(file: Path) -> None:
    watch = SettingsWatch(ClimbRunSettings.load(file, {}))
    assert watch.changed() is None
    rewritten(file, "hcm_hiccup = 6\n")
    changed = watch.changed()
    assert changed is not None
    assert changed.hcm_hiccup == 6.0
    assert watch.changed() is None


def test_file_that_changed_before_the_first_look_is_read_again(file: Path) -> None:
    watch = SettingsWatch(ClimbRunSettings.load(file, {}))
    rewritten(file, "hcm_hiccup = 6\n")
    changed = watch.changed()
    assert changed is not None
    assert changed.hcm_hiccup == 6.0


@pytest.mark.parametrize("text", ["hcm_hiccup: 3", "nothing = 3", "wave_period = 8"])
def test_broken_file_is_said_once_and_read_again_when_repaired(file: Path, text: str) -> None:
    watch = SettingsWatch(ClimbRunSettings.load(file, {}))
    rewritten(file, text)
    with pytest.raises(SettingError):
        watch.changed()
    assert watch.changed() is None
    rewritten(file, "hcm_hiccup = 7.0 # repaired")
    repaired = watch.changed()
    assert repaired is not None
    assert repaired.hcm_hiccup == 7.0


def test_file_that_is_gone_is_said_once(file: Path) -> None:
    watch = SettingsWatch(ClimbRunSettings.load(file, {}))
    file.unlink()
    with pytest.raises(SettingError, match="there is no settings file"):
        watch.changed()
    assert watch.changed() is None


def test_flags_win_over_a_file_that_changes(file: Path) -> None:
    watch = SettingsWatch(ClimbRunSettings.load(file, {}, ["confidence=3"]))
    rewritten(file, "hcm_hiccup = 6\nconfidence = 2.0\n")
    changed = watch.changed()
    assert changed is not None
    assert (changed.hcm_hiccup, changed.confidence) == (6.0, 3.0)


def test_without_a_file_nothing_changes() -> None:
    assert SettingsWatch(ClimbRunSettings.load(None, {})).changed() is None
