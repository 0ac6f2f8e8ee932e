"""`poolpilot climb --search` from its arguments to what it prints, writes and leaves in force."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EndingCurve

from poolpilot.env.knobs import Knob, KnobSpace
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning import backends
from poolpilot.env.tuning.backends import Backend, BackendChoice
from poolpilot.env.tuning.target import Target
from poolpilot.errors import LostServerError, ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.options.tuning_options import TuningOptions

QUICK = ("--rounds", 14, "--set", "random_rounds=4", "--set", "candidates=200")
SEARCH = ("climb", "--search")
CURVE = (*SEARCH, "--backend", "curve", *QUICK)
AT_RANDOM = (*CURVE, "--set", "method=random")
"""Where it does not matter how the next configuration is chosen: a Gaussian process takes seconds."""

STORED_KNOBS = (
    "--knob",
    "pool_size=1,2,4,8,16,32",
    "--knob",
    "oversubscribe=1,3",
    "--knob",
    "timer_interval_ms=10,500",
)


def marked(knob: Knob) -> Knob:
    """A knob of a server whose oversubscribe needs a restart and whose idle timeout belongs to sessions."""
    return replace(knob, restart_only=knob.name == "oversubscribe", per_session=knob.name == "idle_timeout_s")


class MarkedCurve(CurveServer):
    """A curve with such knobs."""

    @property
    def knobs(self) -> KnobSpace:
        knobs = super().knobs
        return KnobSpace(knobs.cpus, {name: marked(one) for name, one in knobs.knobs.items()})


def read(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values


def tuples_of(written: dict[str, Any]) -> list[PoolTuple]:
    """The tuples measured after the first one."""
    return [PoolTuple.from_dict(one["pool_tuple"]) for one in written["configurations"]][1:]


@pytest.mark.parametrize("method", ["bayesian", "random"])
@pytest.mark.parametrize("backend", ["curve", "simulated"])
def test_prints_rounds_outcome_ranking_and_what_is_in_force_and_writes_everything(
    invoke: Callable[..., Any], tmp_path: Path, backend: str, method: str
) -> None:
    path = tmp_path / "search.json"
    result = invoke(*SEARCH, "--backend", backend, "--set", f"method={method}", *QUICK, "--json", path)
    assert (result.code, result.err) == (0, "")
    for wanted in (
        "Searching pool_size 1..128",
        "round 14 of 14",
        "found: measured again",
        "Knobs that matter",
        "In force now",
    ):
        assert wanted in result.out
    written = read(path)
    assert (written["backend"], written["interrupted"], written["rounds_done"]) == (backend, False, 14)
    assert [row["when"] for row in written["outcome"]] == ["first", "found"]
    assert written["outcome"][1]["goodput_per_s"] > 2 * written["outcome"][0]["goodput_per_s"]
    assert written["gain"] == pytest.approx(written["outcome"][1]["value"] - written["outcome"][0]["value"])
    assert written["best"] == written["outcome"][1]["pool_tuple"]
    assert {one["name"] for one in written["ranking"]["knobs"]} == set(written["knobs"])
    assert written["ranking"]["by"].endswith("of this search")
    assert len(written["steps"]) == 1 + 14 * 3


def test_on_a_curve_the_pool_size_ranks_first_and_the_best_is_near_the_optimum(
    invoke: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "search.json"
    invoke(*CURVE, "--json", path)
    written = read(path)
    assert written["ranking"]["knobs"][0]["name"] == "pool_size"
    assert 16 <= written["best"]["pool_size"] <= 40


def test_live_pool_is_searched(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path, workload = tmp_path / "search.json", tmp_path / "workload.json"
    values = backends.draw("page_faults", seed=3).as_dict() | {"cpus": 1, "connections": 8}
    workload.write_text(json.dumps(values), encoding="utf-8")
    options = (
        "--workload",
        workload,
        "--period",
        0.05,
        "--rounds",
        3,
        "--set",
        "random_rounds=2",
        "--knob",
        "pool_size=1..8",
    )
    result = invoke(*SEARCH, *options, "--json", path)
    assert (result.code, result.err) == (0, "")
    assert all(step["goodput_per_s"] > 0 for step in read(path)["steps"])


def test_listed_values_alone_are_tried_and_other_knobs_stay(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    invoke(*CURVE, "--knob", "pool_size=2,8,32", "--knob", "timer_interval_ms=20..30", "--json", path)
    written = read(path)
    tried = tuples_of(written)
    assert {one.pool_size for one in tried} == {2, 8, 32}
    assert {one.timer_interval_ms for one in tried} <= set(range(20, 31))
    assert {one.oversubscribe for one in tried} == {3}
    assert written["knobs"] == {"pool_size": "2, 8, 32", "timer_interval_ms": "20..30"}
    assert written["best"]["pool_size"] == 32


def test_latency_is_minimised_where_that_is_the_target(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    result = invoke(*CURVE, "--set", "target=latency", "--json", path)
    first, best = (row["p99_ms"] for row in read(path)["outcome"])
    assert best < first / 2
    assert "mean latency -" in result.out


def test_until_stable_ends_by_itself(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    stable = [f"--set={one}" for one in ("until_stable=true", "stable_rounds=3", "random_rounds=4")]
    result = invoke(*SEARCH, "--backend", "curve", *stable, "--knob", "pool_size=4,16,32", "--json", path)
    assert (result.code, result.err) == (0, "")
    assert read(path)["rounds_done"] >= 4
    assert read(path)["best"]["pool_size"] == 32
    assert "until 3 rounds have found no better configuration" in result.out


def test_same_seed_searches_alike_in_virtual_time(invoke: Callable[..., Any], tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in paths:
        invoke(*CURVE, "--set", "noise=0.2", "--seed", 5, "--json", path)
    assert read(paths[0])["steps"] == read(paths[1])["steps"]


@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_first_tuple_returns_at_the_end_unless_the_best_is_to_stay(
    invoke: Callable[..., Any],
    ending: type[EndingCurve],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
) -> None:
    monkeypatch.setattr(ending, "runs", 1000)
    result = invoke(*AT_RANDOM, *options, "--json", tmp_path / "search.json")
    server, best = ending.last, PoolTuple.from_dict(read(tmp_path / "search.json")["best"])
    assert server.tuple_in_force() == (best if options else server.first)
    assert f"In force now: {server.tuple_in_force()}" in result.out


@contextmanager
def curve_like_a_mariadb(settings: TuningOptions) -> Iterator[Target]:
    """The curve of an example, said to be a MariaDB."""
    with BackendChoice(Backend.CURVE, curve=settings.curve).opened() as target:
        yield replace(target, origin={"backend": "mariadb", "server": "db1"})


@pytest.mark.parametrize(("options", "set_by_hand"), [([], True), (["--keep"], False)])
def test_after_a_search_of_a_mariadb_come_the_lines_that_keep_its_result(
    invoke: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
    set_by_hand: bool,
) -> None:
    monkeypatch.setattr(TuningOptions, "opened", curve_like_a_mariadb)
    result = invoke(*AT_RANDOM, "--knob", "pool_size=8,32", *options, "--json", tmp_path / "search.json")
    assert (result.code, result.err) == (0, "")
    written = read(tmp_path / "search.json")
    assert written["statements"] == (["SET GLOBAL thread_pool_size = 32;"] if set_by_hand else [])
    assert written["fragment"][:2] == ["[mariadb]", "thread_pool_size = 32"]
    assert set(written["statements"]) | set(written["fragment"]) <= set(result.out.splitlines())


def test_where_nothing_is_better_nothing_is_to_be_set(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    curve = tmp_path / "curve.json"
    curve.write_text("[[1, 100], [4, 900], [32, 100]]", encoding="utf-8")
    monkeypatch.setattr(TuningOptions, "opened", curve_like_a_mariadb)
    result = invoke(
        *AT_RANDOM, "--set", f"curve={curve}", "--knob", "pool_size=1,16,32", "--json", tmp_path / "search.json"
    )
    assert "nothing was better" in result.out
    assert "SET GLOBAL" not in result.out
    assert read(tmp_path / "search.json")["fragment"] == []


def test_where_nothing_better_is_found_the_first_tuple_stays(invoke: Callable[..., Any], tmp_path: Path) -> None:
    path, curve = tmp_path / "search.json", tmp_path / "curve.json"
    curve.write_text("[[1, 100], [4, 900], [32, 100]]", encoding="utf-8")
    options = ("--set", f"curve={curve}", "--knob", "pool_size=1,16,32", "--keep", "--json", path)
    result = invoke(*AT_RANDOM, *options)
    assert "nothing was better than the first configuration, (4, 3, 500)" in result.out
    assert "In force now: (4, 3, 500)" in result.out
    assert (read(path)["gain"], read(path)["best"]["pool_size"]) == (0.0, 4)


@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_interrupt_restores_or_keeps_and_writes_all_the_same(
    invoke: Callable[..., Any], ending: type[EndingCurve], tmp_path: Path, options: list[str]
) -> None:
    path = tmp_path / "search.json"
    result = invoke(*AT_RANDOM, "--json", path, *options)
    assert (result.code, result.err) == (130, "")
    server, written = ending.last, read(path)
    assert (server.tuple_in_force() != server.first) is bool(options)
    assert f"In force now: {server.tuple_in_force()}" in result.out
    assert "best so far" in result.out
    assert (written["interrupted"], written["gain"], len(written["steps"])) == (True, None, 20)
    assert [row["when"] for row in written["outcome"]] == ["first", "so far"]


def test_interrupt_before_the_first_window_writes_what_there_is(
    invoke: Callable[..., Any], ending: type[EndingCurve], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "runs", 0)
    path = tmp_path / "search.json"
    result = invoke(*AT_RANDOM, "--json", path)
    assert result.code == 130
    assert "nothing was found" in result.out
    assert (read(path)["outcome"], read(path)["best"], read(path)["ranking"]["knobs"]) == ([], None, [])


@pytest.mark.parametrize("error", [ServerError("the load has died"), LostServerError("the server is gone")])
def test_error_restores_and_writes_all_the_same(
    invoke: Callable[..., Any],
    ending: type[EndingCurve],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: ServerError,
) -> None:
    monkeypatch.setattr(ending, "error", error)
    path = tmp_path / "search.json"
    result = invoke(*AT_RANDOM, "--keep", "--json", path)
    assert (result.code, result.err) == (1, f"poolpilot: {error}\n")
    assert ending.last.tuple_in_force() == ending.last.first
    assert len(read(path)["steps"]) == 20


def test_knobs_that_cannot_change_live_are_named_and_left_alone(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "CurveServer", MarkedCurve)
    path = tmp_path / "search.json"
    result = invoke(
        *AT_RANDOM, *(f"--knob={name}" for name in ("pool_size", "oversubscribe", "idle_timeout_s")), "--json", path
    )
    assert "oversubscribe is not varied: needs a restart." in result.out
    assert "idle_timeout_s is not varied: each session holds its own value." in result.out
    assert {(one.oversubscribe, one.idle_timeout_s) for one in tuples_of(read(path))} == {(3, 60.0)}
    assert set(read(path)["not_varied"]) == {"oversubscribe", "idle_timeout_s"}
    refused = invoke(*AT_RANDOM, "--knob", "oversubscribe")
    assert (refused.code, refused.err) == (1, "poolpilot: there is no knob to vary: oversubscribe needs a restart\n")


def test_stored_workloads_rank_the_knobs_and_teach_the_process(
    invoke: Callable[..., Any], tmp_path: Path, recorded_store: Path
) -> None:
    path = tmp_path / "search.json"
    result = invoke(*CURVE, *STORED_KNOBS, "--set", f"stored={recorded_store}", "--json", path)
    assert (result.code, result.err) == (0, "")
    assert "Knobs that matter, by 6 stored workloads" in re.sub(r"\s+", " ", result.out)
    written = read(path)
    assert written["ranking"]["by"] == "6 stored workloads"
    assert written["ranking"]["knobs"][0]["name"] == "pool_size"
    alone = tmp_path / "alone.json"
    invoke(*CURVE, *STORED_KNOBS, "--json", alone)
    assert tuples_of(read(alone))[:3] == tuples_of(written)[:3]
    assert [step["pool_tuple"] for step in read(alone)["steps"]] != [step["pool_tuple"] for step in written["steps"]]


def test_only_the_knobs_that_matter_most_are_varied_where_that_is_asked_for(
    invoke: Callable[..., Any], tmp_path: Path, recorded_store: Path
) -> None:
    path = tmp_path / "search.json"
    result = invoke(*AT_RANDOM, *STORED_KNOBS, "--set", f"stored={recorded_store}", "--set", "top=1", "--json", path)
    written = read(path)
    assert list(written["knobs"]) == ["pool_size"]
    assert set(written["not_varied"]) == {"oversubscribe", "timer_interval_ms"}
    assert {one.core[1:] for one in tuples_of(written)} == {(3, 500)}
    assert "of 3 by the stored workloads" in result.out


def test_settings_come_from_flags_over_environment_over_file(
    invoke: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, path = tmp_path / "search.toml", tmp_path / "search.json"
    file.write_text('backend = "curve"\nmethod = "random"\nrounds = 2\nknob = ["pool_size=1..8"]\n', encoding="utf-8")
    monkeypatch.setenv("POOLPILOT_SEARCH_ROUNDS", "3")
    monkeypatch.setenv("POOLPILOT_SEARCH_SAMPLES_PER_ROUND", "5")
    result = invoke(*SEARCH, "--config", file, "--set", "samples_per_round=1", "--json", path)
    assert (result.code, result.err) == (0, "")
    written = read(path)
    assert (written["rounds_done"], written["knobs"]) == (3, {"pool_size": "1..8"})
    assert len(written["steps"]) == 1 + 3 * 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--family", "sunshine"], "there is no family 'sunshine'"),
        (["--set", "noise=0.1"], "belong to --backend curve"),
        (["h=db1", "--backend", "curve"], "names a MariaDB server"),
        (["--backend", "curve", "--knob", "speed"], "no knob 'speed'"),
        (["--backend", "curve", "--knob", "pool_size=no"], "a knob is named as NAME"),
        (["--backend", "curve", "--knob", "pool_size=4"], "nothing to search among: pool_size 4 alone"),
        (["--set", "until_stable=true", "--rounds", "5"], "leave out one of them"),
        (["--set", "top=1"], "name their store with --set stored=FOLDER"),
        (["--backend", "curve", "--set", "stored=nowhere"], "the store nowhere holds no workloads"),
        (["--config", "nowhere.toml"], "there is no settings file nowhere.toml"),
        (["--rounds", "0"], "'rounds': Input should be greater"),
        (["--backend", "curve", "--json", "/nowhere/search.json"], "there is no such folder"),
    ],
)
def test_mistakes_are_one_sentence(invoke: Callable[..., Any], options: list[str], says: str) -> None:
    result = invoke(*SEARCH, *options)
    assert result.code == 1
    assert result.err.startswith("poolpilot: ")
    assert len(result.err.splitlines()) == 1
    assert says in result.err


def test_stored_workloads_that_were_measured_elsewhere_are_refused(
    invoke: Callable[..., Any], recorded_store: Path
) -> None:
    result = invoke(*CURVE, "--knob", "pool_size=64,128", "--set", f"stored={recorded_store}")
    assert result.code == 1
    assert "was measured under no configuration that this search may try" in result.err
