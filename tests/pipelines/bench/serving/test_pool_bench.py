"""`poolpilot bench pool`, small: every part measures what it says; how fast is not a test's matter."""

import json
import math
import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conftest import short_folder

from poolpilot.errors import ServerError, SettingError
from poolpilot.pipelines.bench.disciplines.shares import SharePlan
from poolpilot.pipelines.bench.parts.classes import NAMES, UNASKED, WAYS
from poolpilot.pipelines.bench.parts.handlers import HANDLERS
from poolpilot.pipelines.bench.parts.nulls import ECHO
from poolpilot.pipelines.bench.parts.throttling import ALONE, LIMITED, of_peak
from poolpilot.pipelines.bench.pool import bench_pool, reference_of, row_of
from poolpilot.pipelines.bench.serving import served
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.foreign import Foreign, mariadb, redis
from poolpilot.pipelines.bench.serving.works import WORKS
from poolpilot.serve.commands.observe.bench_pool_command import run

CPUS = tuple(os.sched_getaffinity(0))
SHORT: dict[str, Any] = {
    "repeats": 2,
    "settle_s": 0.05,
    "window_s": 0.2,
    "server_cpus": CPUS[:1],
    "load_cpus": CPUS[-1:],
}


@pytest.fixture(scope="module", autouse=True)
def _imports_once() -> Iterator[None]:
    """Servers come of a process that has imported what they need: a fresh one imports for longer than it serves."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", served.__name__])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(served, "multiprocessing", SimpleNamespace(get_context=lambda _: context))
        yield


def cells_of(**values: Any) -> dict[str, Any]:
    """The cells of a short run, by name."""
    bench = bench_pool(PoolBenchSettings(**{**SHORT, **values}))
    return {row["cell"]: row for row in bench.as_dict()["cells"]}


def test_handlers_stand_beside_each_other_at_every_number_of_connections() -> None:
    cells = cells_of(parts=("handlers",), connections=(1, 8), repeats=1)
    assert set(cells) == {f"{work} at {connections}" for work in WORKS for connections in (1, 8)}
    for row in cells.values():
        assert set(row["contenders"]) == set(HANDLERS) == set(row["ratios"])
        for measures in row["contenders"].values():
            assert measures["throughput_per_s"]["mean"] > 0.0
            assert measures["p99_ms"]["mean"] >= measures["p50_ms"]["mean"] > 0.0
            assert math.isnan(measures["throughput_per_s"]["low"])
    assert cells["null at 8"]["contenders"]["per_connection"]["threads"]["mean"] >= 8
    served_by = cells["null at 8"]["contenders"]["pool"]["threads"]["mean"]
    assert served_by < cells["null at 8"]["contenders"]["per_connection"]["threads"]["mean"]


def test_reconnecting_clients_are_compared_with_and_without_the_short_cut_and_the_table_is_written_for_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = PoolBenchSettings(parts=("reconnect",), reconnecting=(4,), runs=tmp_path / "runs", **SHORT)
    run(settings, tmp_path / "pool.json")
    assert "hybrid, at once" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "pool.json").read_text())["cells"]
    assert row["cell"] == "null at 4"
    assert set(row["contenders"]) == {f"{handler}, {how}" for handler in HANDLERS for how in ("at once", "by a read")}
    assert set(row["ratios"]) == {f"{handler}, at once" for handler in HANDLERS}
    assert all(ratio["low"] <= ratio["mean"] <= ratio["high"] for ratio in row["ratios"].values())
    kept = (tmp_path / "runs").read_text()
    assert len(kept.splitlines()) == 2 * len(row["contenders"])
    run(settings, None)
    assert (tmp_path / "runs").read_text() == kept


def test_a_class_that_was_sent_last_is_right_where_a_connection_sends_one_only() -> None:
    cells = cells_of(parts=("known",), known_connections=8, repeats=1)
    both, one_each = (cells[name]["contenders"] for name in ("both classes", "one class each"))
    assert set(both) == set(one_each) == {UNASKED, *WAYS}
    wrong = {name: measures["misplaced_share"]["mean"] for name, measures in both.items()}
    assert wrong[UNASKED] == wrong["peeked"] == 0.0
    assert wrong["last"] == pytest.approx(0.5, abs=0.1)
    assert wrong["declared"] == pytest.approx(0.5, abs=0.1)
    assert one_each["last"]["misplaced_share"]["mean"] < 0.05
    assert {f"{name}_throughput_per_s" for name in NAMES} <= both["last"].keys()


def test_a_limit_stands_beside_none_and_both_beside_the_best_of_all() -> None:
    cells = cells_of(parts=("throttling",), throttled=(2, 24), throttled_to=3, repeats=1)
    assert set(cells) == {"convoy at 2", "convoy at 24"}
    for row in cells.values():
        assert set(row["contenders"]) == set(row["of_peak"]) == {ALONE, LIMITED}
        assert set(row["ratios"]) == {LIMITED}
    means = [ratio["mean"] for row in cells.values() for ratio in row["of_peak"].values()]
    assert means.count(1.0) == 1
    rates = {
        (cell, name): measures["throughput_per_s"]["mean"]
        for cell, row in cells.items()
        for name, measures in row["contenders"].items()
    }
    best_cell, best = max(rates, key=lambda place: rates[place])
    assert cells[best_cell]["of_peak"][best]["mean"] == 1.0
    threads = {name: measures["threads"]["mean"] for name, measures in cells["convoy at 24"]["contenders"].items()}
    assert threads[LIMITED] < threads[ALONE]


def test_a_cell_without_all_repeats_is_not_compared_with_the_peak() -> None:
    cells = {"a": {ALONE: [4.0, 6.0], LIMITED: [8.0, 8.0]}, "b": {ALONE: [1.0], LIMITED: []}}
    found = of_peak(cells)
    assert found["b"] == {}
    assert found["a"][ALONE].mean == pytest.approx(math.sqrt(4.0 * 6.0) / 8.0)


def test_shares_of_the_live_pool_are_near_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = (
        SharePlan("weighted_round_robin", "requests", (0.75, 0.25)),
        SharePlan("cbwfq_llq", "time", (0.0, 0.5, 0.5)),
    )
    monkeypatch.setattr("poolpilot.pipelines.bench.parts.classes.LIVE_PLANS", plans)
    cells = cells_of(parts=("shares",), repeats=1, settle_s=0.3, window_s=0.5)
    assert set(cells) == {plan.name for plan in plans}
    for plan in plans:
        (measures,) = cells[plan.name]["contenders"].values()
        shares = {name: measures[f"{name}_share"]["mean"] for name in plan.classes if f"{name}_share" in measures}
        assert len(shares) == 2
        assert sum(shares.values()) == pytest.approx(1.0)
        assert plan.points_off(shares) <= measures["points_off"]["mean"] + 1e-9 < 10.0


def test_servers_that_are_not_installed_are_told_and_ours_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("poolpilot.lab.host.programs.shutil.which", lambda *_, **__: None)
    row = cells_of(parts=("null",), null_connections=(4,), lab=tmp_path)["4 connections"]
    assert set(row["contenders"]) == {*HANDLERS, ECHO}
    assert "redis-server is not installed" in row["refused"]["Redis PING"]
    assert "is not installed" in row["refused"]["MariaDB DO 1"]
    assert set(row["ratios"]) == set(HANDLERS)


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="REDIS IS NOT TESTED: install redis-server")
def test_redis_answers_its_own_load() -> None:
    with redis(2, CPUS[:1], CPUS[-1:]) as server:
        answers_more(server)


def test_mariadb_answers_its_own_load(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with mariadb(2, CPUS[:1], CPUS[-1:], short_folder(tmp_path_factory)) as server:
        answers_more(server)
        server.load.kill()
        server.load.wait()
        with pytest.raises(ServerError, match=r"sysbench.* has ended with status -9"):
            server.completed()


def answers_more(server: Foreign) -> None:
    """Waits until a server has answered far more requests than were asked here."""
    wanted = server.completed() + 1000
    while server.completed() < wanted:
        time.sleep(0.05)


def test_a_handler_is_compared_with_the_better_of_the_other_two() -> None:
    compared = {"per_connection": [1.0, 3.0], "pool": [2.0, 4.0], "hybrid": [9.0, 9.0]}
    assert reference_of("handlers", "hybrid", compared) == "pool"
    assert reference_of("handlers", "pool", compared) == "hybrid"
    assert reference_of("handlers", "hybrid", {"hybrid": [1.0]}) is None


def test_classes_are_compared_too_but_not_where_one_got_nothing() -> None:
    columns = {
        "original": {
            "throughput_per_s": [8.0, 10.0],
            "a_throughput_per_s": [8.0, 9.0],
            "b_throughput_per_s": [0.0, 1.0],
        },
        "weight 0.5": {
            "throughput_per_s": [4.0, 5.0],
            "a_throughput_per_s": [2.0, 2.25],
            "b_throughput_per_s": [2.0, 2.0],
        },
    }
    row = row_of("priorities", "a + b", columns)
    assert row["ratios"]["weight 0.5"]["mean"] == pytest.approx(0.5)
    assert row["class_ratios"]["a"]["weight 0.5"]["mean"] == pytest.approx(0.25)
    assert row["class_ratios"]["b"] == {}


@pytest.mark.parametrize(
    ("flag", "value", "reason"),
    [
        ("parts", ["oracle"], "'handlers', 'reconnect', .*'shares', 'priorities' or 'overload'"),
        ("connections", [0], "greater than or equal to 1"),
        ("connections", [65_537], "less than or equal to 65536"),
        ("repeats", 0, "greater than or equal to 1"),
        ("window_s", 0.0, "greater than 0"),
        ("mix_connections", 0, "greater than or equal to 1"),
        ("mix_settle_s", 0.0, "greater than 0"),
        ("mix_window_s", 0.0, "greater than 0"),
        ("overload_connections", 32_769, "less than or equal to 32768"),
        ("overload_window_s", 0.0, "greater than 0"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(flag: str, value: object, reason: str) -> None:
    with pytest.raises(SettingError, match=rf"setting '{flag}.*{reason}"):
        PoolBenchSettings.load(None, {flag: value})
