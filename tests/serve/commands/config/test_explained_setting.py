"""Each setting is told with its origin, its range and its meaning."""

from pathlib import Path

import pytest

from poolpilot.serve.commands.config.explained_setting import NOT_SET, ExplainedSetting, Origin, explained
from poolpilot.serve.commands.tune.tune_settings import TuneSettings

FILE = """
mode = "apply"
window = 5.0
hours = ["nights"]

[guard]
factor = 1.5
"""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ExplainedSetting]:
    path = tmp_path / "tuner.toml"
    path.write_text(FILE, encoding="utf-8")
    monkeypatch.setenv("POOLPILOT_TUNE_WINDOW", "4")
    monkeypatch.setenv("POOLPILOT_TUNE_PACE__SHIFT", "0.5")
    flags = {"dsn": "h=db1"}
    found = explained(TuneSettings.load(path, flags), path, flags)
    return {row.name: row for row in found}


def test_origins(rows: dict[str, ExplainedSetting]) -> None:
    origins = {name: row.origin for name, row in rows.items() if row.origin is not Origin.DEFAULT}
    assert origins == {
        "dsn": Origin.FLAG,
        "mode": Origin.FILE,
        "window": Origin.ENVIRONMENT,
        "hours": Origin.FILE,
        "guard.factor": Origin.FILE,
        "pace.shift": Origin.ENVIRONMENT,
    }


def test_value_that_wins_is_told_with_the_one_that_does_not_count(rows: dict[str, ExplainedSetting]) -> None:
    assert (rows["window"].value, rows["window"].hidden) == ("4", "file")
    assert (rows["guard.factor"].value, rows["guard.factor"].hidden) == ("1.5", "")


def test_ranges_and_choices(rows: dict[str, ExplainedSetting]) -> None:
    assert rows["guard.factor"].allowed == "more than 1, at most 16"
    assert rows["mode"].allowed == "observe, advise, apply"
    assert rows["lease"].allowed == "none, event"
    assert rows["approve"].allowed == "true, false"


def test_every_setting_of_the_tuner_has_a_meaning(rows: dict[str, ExplainedSetting]) -> None:
    assert [name for name, row in rows.items() if not row.meaning] == []
    assert rows["model"].value == NOT_SET


def test_group_given_as_one_variable_is_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POOLPILOT_TUNE_GUARD", '{"factor": 3.0}')
    rows = {row.name: row for row in explained(TuneSettings.load(None, {}), None, {})}
    assert (rows["guard.factor"].origin, rows["guard.factor"].value) == (Origin.ENVIRONMENT, "3")
