"""What has been measured is in the report, however the demonstration ends; a dead tuner ends it at once."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolpilot.errors import ServerError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.demo.production import constant_arms
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen
from poolpilot.pipelines.demo.production.shifting_load import PHASES, LoadedLab
from poolpilot.serve.commands.production.production_command import demo_production, forget_earlier
from poolpilot.serve.commands.production.production_demo import ProductionDemo
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings

SEEN = [
    PhaseSeen(each.name, (1.0, 1.0), ({one.name: Histogram.of_values([500.0] * 10) for one in each.classes},) * 2)
    for each in PHASES
]


@pytest.fixture
def settings(tmp_path: Path) -> ProductionDemoSettings:
    return ProductionDemoSettings(output=tmp_path / "out", lab=tmp_path / "lab", window_s=0.1, tuner_s=4.0)


@pytest.fixture(autouse=True)
def _stubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is started: every arm has seen the same."""
    monkeypatch.setattr(ProductionDemo, "_default_arm", lambda *_: (SEEN, PoolTuple(2, 3, 500)))
    monkeypatch.setattr(ProductionDemo, "_chosen", lambda *_: (PoolTuple(4, 3, 10), [{"tuple": [4, 3, 10]}]))
    monkeypatch.setattr(ProductionDemo, "_constant_arm", lambda *_: SEEN)


def ends_with(error: BaseException) -> Callable[..., None]:
    def ending(*_: object) -> None:
        raise error

    return ending


def report_of(settings: ProductionDemoSettings) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((settings.output / "report.json").read_text(encoding="utf-8"))
    return report


def earlier_run(settings: ProductionDemoSettings) -> None:
    settings.output.mkdir()
    (settings.output / "report.json").write_text('{"arms": {"of": "yesterday"}}', encoding="utf-8")


@pytest.mark.parametrize("error", [ServerError("sysbench has stopped"), KeyboardInterrupt()], ids=["error", "ctrl-c"])
def test_arms_are_kept_where_an_incident_fails(
    settings: ProductionDemoSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException
) -> None:
    monkeypatch.setattr(ProductionDemo, "_tuned_arm", lambda *_: SEEN)
    monkeypatch.setattr(ProductionDemo, "_incidents", ends_with(error))
    with pytest.raises(type(error)):
        demo_production(settings, tmp_path / "table.json")
    report = report_of(settings)
    assert list(report["arms"]) == ["default", "constant", "tuner", "settled"]
    assert (report["default"], report["best_constant"]) == ([2, 3, 500], [4, 3, 10])
    assert report["planted"]["reason"] == "it was not planted"
    assert not report["finished"]
    assert json.loads((tmp_path / "table.json").read_text(encoding="utf-8")) == report


def test_arms_before_it_are_kept_where_the_tuner_fails(
    settings: ProductionDemoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier_run(settings)
    monkeypatch.setattr(ProductionDemo, "_tuned_arm", ends_with(ServerError("the tuner has ended")))
    with pytest.raises(ServerError):
        demo_production(settings, None)
    assert list(report_of(settings)["arms"]) == ["default", "constant"]


def test_report_of_an_earlier_run_is_gone_from_the_beginning(
    settings: ProductionDemoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier_run(settings)
    monkeypatch.setattr(ProductionDemo, "_default_arm", ends_with(ServerError("the server does not start")))
    with pytest.raises(ServerError):
        demo_production(settings, None)
    assert report_of(settings)["arms"] == {}


class DyingTuner:
    """Lives for three looks."""

    observations = 0

    def until_begun(self, _within_s: float) -> None:
        """It has."""

    @property
    def alive(self) -> bool:
        self.observations += 1
        return self.observations < 3


class StubbedLoad:
    workload = PHASES[0]

    def histograms(self) -> dict[str, Histogram]:
        return {"select": Histogram()}


def test_dead_tuner_is_noticed_within_a_window(
    settings: ProductionDemoSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def sending(*_: object) -> Iterator[StubbedLoad]:
        yield StubbedLoad()

    @contextmanager
    def opened(*_: object) -> Iterator[DyingTuner]:
        yield tuner

    tuner = DyingTuner()
    monkeypatch.setattr(constant_arms, "RUN_UP_S", 0.0)
    monkeypatch.setattr(LoadedLab, "sending", sending)
    monkeypatch.setattr(LoadedLab, "restarted", opened)
    monkeypatch.setattr(ProductionDemo, "_tuner", opened)
    with pytest.raises(ServerError, match="the tuner has ended before its load has"):
        demo_production(settings, None)
    assert tuner.observations == 3


def test_output_that_is_a_file_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("a page", encoding="utf-8")
    result = invoke("demo", "--production", "--output", file)
    assert result.code == 1
    assert "a file of that name is there" in result.err
    assert result.err.count("\n") == 1


def test_logs_of_others_are_none_of_its_own(tmp_path: Path) -> None:
    """Before, all of DIR/decisions was deleted, whoever had written it."""
    settings = ProductionDemoSettings(output=tmp_path)
    theirs, ours = (tmp_path / "decisions" / name for name in ("db1", "planted"))
    for folder in (theirs, ours):
        folder.mkdir(parents=True)
    forget_earlier(ProductionDemo(settings, Console(), ()))
    assert (theirs.exists(), ours.exists()) == (True, False)
