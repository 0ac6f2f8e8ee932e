"""`poolpilot climb` from its arguments to what it prints and writes."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EndingCurve

from poolpilot.env.climbing.spectral import NATIVE_NAMES
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.errors import LostServerError, ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import champion_folder
from poolpilot.native_pool import SpectralSettings
from poolpilot.serve.commands.climb.climb_command import said_of_all
from poolpilot.serve.commands.options.tuning_options import TuningOptions

CURVE = ("climb", "--backend", "curve", "--seconds", 10)


def test_processors_are_named_for_a_mariadb_alone(invoke: Callable[..., Any]) -> None:
    result = invoke(*CURVE, "--cpus", 8)
    assert result.code != 0
    assert "--cpus 8 is of a MariaDB server: name one by its DSN, or leave it out" in result.err


@contextmanager
def curve_like_a_mariadb(settings: TuningOptions) -> Iterator[Target]:
    """The curve that was asked for, said to be a MariaDB."""
    with settings.choice.opened() as target:
        yield replace(target, origin={"backend": "mariadb", "server": "db1"})


def read(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values


@pytest.mark.parametrize("backend", ["curve", "simulated"])
def test_prints_screen_outcome_and_what_is_in_force_and_writes_everything(
    invoke: Callable[..., Any], tmp_path: Path, backend: str
) -> None:
    path = tmp_path / "climb.json"
    result = invoke("climb", "--backend", backend, "--seconds", 10, "--period", 0.25, "--json", path)
    assert (result.code, result.err) == (0, "")
    for wanted in ("mode", "bracket", "scan", "▁", "before", "after", "In force now"):
        assert wanted in result.out
    written = read(path)
    assert written["backend"] == backend
    assert written["interrupted"] is False
    assert [row["when"] for row in written["outcome"]] == ["before", "after"]
    assert written["outcome"][1]["goodput_per_s"] > 2 * written["outcome"][0]["goodput_per_s"]
    assert len(written["steps"]) == 40
    assert len(written["settings"]) == len(SpectralSettings.fields())


@pytest.mark.filterwarnings("ignore:The ``noload``")  # of SQLAlchemy, by what MLflow stores with
def test_a_climb_is_an_mlflow_run_where_a_store_is_named(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    path = tmp_path / "climb.json"
    result = invoke(*CURVE, "--json", path, "--tracking", tmp_path / "store")
    assert (result.code, result.err) == (0, "")
    run = mlflow.last_active_run()
    assert (run.info.run_name, run.info.status) == ("climb", "FINISHED")
    assert (run.data.params["seconds"], run.data.params["backend"]) == ("10.0", "curve")
    assert run.data.metrics["after.goodput_per_s"] == pytest.approx(read(path)["outcome"][1]["goodput_per_s"])


def test_decisions_are_the_log_of_the_climber_as_plain_json(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "climb.json"
    invoke(*CURVE, "--json", path)
    decisions = read(path)["decisions"]
    assert [record["sample"] for record in decisions] == list(range(41))
    assert decisions[0]["reason"] == "starts cold"
    assert all(len(record["size_harmonic"]) == len(record["throughput_harmonic"]) == 2 for record in decisions)
    assert any(record["size_harmonic"][1] != 0.0 for record in decisions)


def test_knobs_that_are_named_are_climbed_together(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "climb.json"
    named = ("--knob", "oversubscribe", "--knob", "pool_size")
    result = invoke("climb", "--backend", "simulated", *named, "--seconds", 10, "--json", path)
    assert (result.code, result.err) == (0, "")
    assert "elasticity" in result.out
    written = read(path)
    assert written["knobs"] == ["pool_size", "oversubscribe"]
    assert [record["sample"] for record in written["decisions"]] == list(range(41))
    assert all(set(record["knobs"]) == {"pool_size", "oversubscribe"} for record in written["decisions"])
    assert len({step["pool_tuple"]["oversubscribe"] for step in written["steps"]}) > 1
    assert {step["pool_tuple"]["timer_interval_ms"] for step in written["steps"]} == {500}


def test_size_that_is_named_is_climbed_as_if_it_were_not(invoke: Callable[..., Any], tmp_path: Path) -> None:
    paths = [tmp_path / "named.json", tmp_path / "unnamed.json"]
    invoke(*CURVE, "--knob", "pool_size", "--json", paths[0])
    invoke(*CURVE, "--json", paths[1])
    assert read(paths[0])["decisions"] == read(paths[1])["decisions"]


def test_warm_climb_prints_what_was_tried_and_why(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "climb.json"
    result = invoke("climb", "--backend", "simulated", "--warm", "--seconds", 10, "--json", path)
    assert (result.code, result.err) == (0, "")
    assert "Trials" in result.out
    assert "in force before" in result.out
    named = [prediction["pool_tuple"] for prediction in read(path)["predictions"]]
    assert 1 <= len(named) <= 5
    assert f"({named[0]['pool_size']}, {named[0]['oversubscribe']}, {named[0]['timer_interval_ms']})" in result.out


def test_what_all_trials_have_in_common_is_said_once() -> None:
    def told(*reasons: str) -> Prediction:
        in_force = PoolTuple(2, 3, 500)
        return Prediction(in_force, in_force, False, reasons, "digest")

    beyond = "this server has 256"
    assert said_of_all([told("a", beyond), told("b", "a floor", beyond)]) == [beyond]
    assert said_of_all([told("a", "the CPU is idle"), told("b")]) == []


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        (["--backend", "simulated"], "mariadb", "is for servers of the kind 'mariadb', and this one is 'simulated'"),
        ([], "mariadb", "is for servers of the kind 'mariadb', and this one is 'native'"),
        (["h=127.0.0.1,P=1", "--execute"], "native", "is for servers of the kind 'native', and this one is 'mariadb'"),
        (["--backend", "curve"], "native", "--warm starts from a model's prediction: server_kind is 'curve'"),
        (
            ["--server", "nowhere:open_server"],
            "native",
            "--warm starts from a model's prediction: server_kind is 'other'",
        ),
    ],
)
def test_model_of_another_kind_is_refused_before_any_server_is_opened(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, options: list[str], kind: ModelKind, says: str
) -> None:
    monkeypatch.setattr(TuningOptions, "opened", lambda _: pytest.fail("a server was opened"))
    result = invoke("climb", *options, "--warm", "--model", champion_folder(kind=kind))
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert says in result.err


@pytest.mark.parametrize(("options", "heading"), [([], "To set it now"), (["--keep"], "A restart forgets that")])
def test_after_a_climb_of_a_mariadb_come_the_lines_that_keep_its_result(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str], heading: str
) -> None:
    monkeypatch.setattr(TuningOptions, "opened", curve_like_a_mariadb)
    result = invoke(*CURVE, *options, "--json", tmp_path / "climb.json")
    assert (result.code, result.err) == (0, "")
    written = read(tmp_path / "climb.json")
    size = written["steps"][-1]["pool_tuple"]["pool_size"]
    assert written["fragment"][:2] == ["[mariadb]", f"thread_pool_size = {size}"]
    assert written["statements"] == ([] if options else [f"SET GLOBAL thread_pool_size = {size};"])
    assert result.out.partition(heading)[0].endswith(f"The climb ended on ({size}, 3, 500).\n")
    assert set(written["statements"]) | set(written["fragment"]) <= set(result.out.splitlines())


def test_after_any_other_climb_there_are_no_such_lines(invoke: Callable[..., Any], tmp_path: Path) -> None:
    result = invoke(*CURVE, "--json", tmp_path / "climb.json")
    assert "SET GLOBAL" not in result.out
    assert (read(tmp_path / "climb.json")["statements"], read(tmp_path / "climb.json")["fragment"]) == ([], [])


def test_same_seed_climbs_alike_in_virtual_time(invoke: Callable[..., Any], tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in paths:
        invoke(*CURVE, "--set", "noise=0.2", "--seed", 5, "--json", path)
    assert read(paths[0])["steps"] == read(paths[1])["steps"]


def test_live_pool_is_climbed_under_a_workload_from_a_file(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path, answer = tmp_path / "workload.json", tmp_path / "climb.json"
    values = draw("page_faults", seed=3).as_dict() | {"cpus": 1, "connections": 8}
    path.write_text(json.dumps(values), encoding="utf-8")
    result = invoke("climb", "--workload", path, "--seconds", 2, "--period", 0.1, "--json", answer)
    assert result.code == 0, result.err
    assert all(step["goodput_per_s"] > 0 for step in read(answer)["steps"])


@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_interrupt_restores_or_keeps_and_writes_all_the_same(
    invoke: Callable[..., Any], ending: type[EndingCurve], tmp_path: Path, options: list[str]
) -> None:
    path = tmp_path / "climb.json"
    result = invoke(*CURVE, "--json", path, *options)
    assert (result.code, result.err) == (130, "")
    server, written = ending.last, read(path)
    assert (server.tuple_in_force() != server.first) is bool(options)
    assert f"In force now: {server.tuple_in_force()}" in result.out
    assert "after" in result.out
    assert written["interrupted"] is True
    assert len(written["steps"]) == 20
    assert len(written["decisions"]) == 21


def test_interrupt_before_the_first_window_writes_what_there_is(
    invoke: Callable[..., Any], ending: type[EndingCurve], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "runs", 0)
    path = tmp_path / "climb.json"
    assert invoke(*CURVE, "--json", path).code == 130
    assert (read(path)["outcome"], read(path)["decisions"]) == ([], [])


@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_error_restores_if_the_server_is_there_and_writes_all_the_same(
    invoke: Callable[..., Any],
    ending: type[EndingCurve],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    monkeypatch.setattr(ending, "error", ServerError("the load has died"))
    path = tmp_path / "climb.json"
    result = invoke(*CURVE, "--json", path, *options)
    assert (result.code, result.err) == (1, "poolpilot: the load has died\n")
    assert ending.last.tuple_in_force() == ending.last.first
    assert len(read(path)["steps"]) == 20


def test_lost_server_is_not_asked_again(
    invoke: Callable[..., Any], ending: type[EndingCurve], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "error", LostServerError("the server is gone"))
    result = invoke(*CURVE, "--json", tmp_path / "climb.json")
    assert (result.code, result.err) == (1, "poolpilot: the server is gone\n")
    assert len(read(tmp_path / "climb.json")["steps"]) == 20


@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_first_tuple_returns_at_the_end_unless_it_is_to_keep_what_it_reached(
    invoke: Callable[..., Any], ending: type[EndingCurve], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(ending, "runs", 1000)
    result = invoke(*CURVE, *options)
    server = ending.last
    assert (server.tuple_in_force() == server.first) is not bool(options)
    assert f"In force now: {server.tuple_in_force()}" in result.out


def test_settings_come_from_flags_over_environment_over_file(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, path = tmp_path / "climb.toml", tmp_path / "climb.json"
    file.write_text("hcm_hiccup = 1\nconfidence = 2.5\nscan_worth = 0.1\n", encoding="utf-8")
    monkeypatch.setenv("POOLPILOT_CLIMB_HCM_HICCUP", "2")
    monkeypatch.setenv("POOLPILOT_CLIMB_CONFIDENCE", "3.5")
    result = invoke(*CURVE, "--config", file, "--set", "hcm_hiccup=3", "--set", "scan_rounds=6", "--json", path)
    assert (result.code, result.err) == (0, "")
    settings = read(path)["settings"]
    names = ("hcm_hiccup", "confidence", "scan_worth", "scan_rounds", "hcm_hillclimbing_enabled", "hcm_period")
    assert [settings[name] for name in names] == [3.0, 3.5, 0.1, 6, True, 0.25]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--family", "sunshine"], "there is no family 'sunshine'; there are .*page_faults"),
        (["--backend", "curve", "--set", "curve=nowhere.json"], "cannot read nowhere.json"),
        (["--set", "noise=0.1"], "belong to --backend curve"),
        (["h=db1", "--backend", "curve"], "names a MariaDB server"),
        (
            ["--backend", "curve", "--knob", "all"],
            "cannot climb oversubscribe, timer_interval_ms: leave",
        ),
        (["--set", "hcm_hiccup"], "NAME=VALUE"),
        (["--set", "speed=3"], "'speed': there is no such setting"),
        (["--set", "wave_period=8"], "'wave_period' is a constant of the climber now"),
        (["--set", "hcm_period=0.1"], r"hcm_period is 0\.1, .*hcm_min_period"),
        (["--config", "nowhere.toml"], "there is no settings file nowhere.toml"),
        (["--backend", "curve", "--json", "/nowhere/climb.json"], "there is no such folder"),
    ],
)
def test_mistakes_are_one_sentence(invoke: Callable[..., Any], options: list[str], says: str) -> None:
    result = invoke("climb", *options)
    assert result.code == 1
    assert result.err.startswith("poolpilot: ")
    assert len(result.err.splitlines()) == 1
    assert re.search(says, result.err)


@pytest.mark.parametrize("text", ["{}", "[]", "no", '{"name": 1, "classes": [3]}'])
def test_file_that_is_no_workload_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path, text: str) -> None:
    path = tmp_path / "workload.json"
    path.write_text(text, encoding="utf-8")
    result = invoke("climb", "--workload", path)
    assert result.code == 1
    assert "workload.json" in result.err
    assert "Traceback" not in result.err


def listed(invoke: Callable[..., Any], path: Path, *arguments: object) -> dict[str, dict[str, str]]:
    """What `check --settings climb` tells of each setting."""
    result = invoke("check", *arguments, "--settings", "climb", "--defaults", "--json", path)
    assert (result.code, result.err) == (0, "")
    return {row["name"]: row for row in read(path)["settings"]}


def test_settings_are_listed_with_the_defaults_of_the_command(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    rows = listed(invoke, tmp_path / "settings.json")
    assert [name for name in NATIVE_NAMES if name not in rows] == []
    for row in SpectralSettings.fields():
        (name,) = (own for own, native in NATIVE_NAMES.items() if native == row["name"])
        assert row["effect"] in rows[name]["meaning"]
    assert rows["log_enabled"]["value"] == "true"
    least = {
        "name": "min_accepted_throughput",
        "value": "1",
        "origin": "default",
        "allowed": "at least 0",
        "hidden": "",
    }
    assert rows["min_accepted_throughput"] | {"meaning": ""} == least | {"meaning": ""}


def test_settings_of_mariadb_are_listed_without_connecting(invoke: Callable[..., Any], tmp_path: Path) -> None:
    rows = listed(invoke, tmp_path / "settings.json", "h=nowhere.invalid")
    assert rows["period_s"]["value"] == "0.5"
