"""A tuner as a process of its own: it is told its settings by flags, and it ends with the block."""

import time
from pathlib import Path

import pytest

from poolpilot.errors import ServerError
from poolpilot.serve.commands.production.production_settings import DemoGuard, DemoPace, ProductionDemoSettings
from poolpilot.serve.commands.production.tuner_child import TunerChild, flags_of
from poolpilot.serve.commands.tune.tune_settings import TuneSettings


def test_every_setting_is_one_of_a_tuner() -> None:
    for section, model in (("guard", DemoGuard()), ("pace", DemoPace())):
        loaded = TuneSettings.load(None, {}, [flag.removeprefix("--set=") for flag in flags_of(section, model)])
        told = getattr(loaded, section).model_dump(include={*model.model_dump()})
        assert told == model.model_dump()


def test_quick_is_shorter_unless_somebody_says_otherwise() -> None:
    assert ProductionDemoSettings(quick=True).tuner_s < ProductionDemoSettings().tuner_s
    assert ProductionDemoSettings(quick=True, tuner_s=99.0).tuner_s == 99.0


def test_what_it_prints_is_told_and_it_ends_with_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_TUNE_MODE", "nonsense")  # of the user's own tuner
    told: list[str] = []
    missing = tmp_path / "missing.cnf"
    with TunerChild(missing, tmp_path, [], told.append) as child:
        with pytest.raises(ServerError, match="has not begun within 0 s"):
            child.until_begun(0.0)
        child.until_begun(60.0)
        assert any(str(missing) in line for line in told)
        ends_s = time.monotonic() + 60.0
        while child.alive and time.monotonic() < ends_s:
            time.sleep(0.05)
        assert child.end() == 1
    assert not child.alive
