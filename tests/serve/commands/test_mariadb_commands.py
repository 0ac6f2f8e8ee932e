"""The commands on a real MariaDB: they look, they set only when told to, and they put back what they found."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.commands.prepared_command import PreparedCommand
from tests.serve.commands.staged_server import POOLPILOT, selects

from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.measurement.protocol import MARIADB_RACING, sweep
from poolpilot.errors import LostServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.side.side_job import SideJob
from poolpilot.lab.side.side_session import SideSession
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.models.observations import disturbances
from poolpilot.serve.commands.act import sweep_command
from poolpilot.serve.commands.learn.lab_command import account_in_words
from poolpilot.serve.commands.presentation.verdict import OBSERVE_AGAIN


def in_force(lab: Lab) -> PoolTuple:
    with MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server:
        return server.tuple_in_force()


@pytest.fixture
def dsn(lab: Lab) -> str:
    return f"F={lab.defaults_file}"


@pytest.fixture
def busy(loaded_lab: Lab) -> Iterator[str]:
    """DSN of a server under short requests beside long ones, which take all of the machine."""
    with SqlLoad(named_workload("joins_beside-8-0"), loaded_lab.load_file, loaded_lab.dataset):
        yield f"F={loaded_lab.defaults_file}"


@pytest.fixture
def calm(loaded_lab: Lab) -> Iterator[str]:
    """DSN of a server under requests that leave most of the machine to what is tested."""
    with SqlLoad(selects(think_ms=50.0), loaded_lab.load_file, loaded_lab.dataset):
        yield f"F={loaded_lab.defaults_file}"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run beside these: that they have the processors is no matter here."""
    monkeypatch.setattr(disturbances, "MOST_OF_OTHERS", 1.0)


def test_advice_names_tuple_price_and_statements_and_changes_nothing(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before = in_force(loaded_lab)
    result = invoke("advise", busy, "--seconds", 3, "--json", tmp_path / "advice.json")
    assert (result.code, result.err) == (0, "")
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert "64 connections send" in result.out
    assert advice["prediction"]["keeps"] is False
    size, oversubscribe, timer_interval_ms = (
        advice["prediction"]["pool_tuple"][name] for name in ("pool_size", "oversubscribe", "timer_interval_ms")
    )
    assert (size, timer_interval_ms) > (2, 0)
    assert advice["worst_threads"] >= max(64, size * (1 + oversubscribe))
    assert advice["worst_memory_mb"] > 1.0
    assert advice["statements"]
    assert f"thread_pool_size = {size}" in advice["fragment"]
    assert set(advice["statements"]) | set(advice["fragment"]) <= set(result.out.splitlines())
    assert re.search(r" took \w+ from \d+ to \d+", advice["similar"])
    assert in_force(loaded_lab) == before


def test_on_another_number_of_processors_there_is_no_advice_but_the_next_step(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    running = loaded_lab.running()
    assert running is not None
    before = os.sched_getaffinity(running.pid)
    os.sched_setaffinity(running.pid, {min(before)})
    try:
        result = invoke("advise", busy, "--model", "network", "--seconds", 1, "--json", tmp_path / "advice.json")
    finally:
        os.sched_setaffinity(running.pid, before)
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert (result.code, result.err) == (0, "")
    assert "to 1 processor " in result.out
    assert "leave it" not in result.out
    assert (advice["prediction"]["verdict"], advice["prediction"]["expected_gain"]) == ("no advice", None)
    assert f"poolpilot climb {busy} --sweep --execute" in result.out.splitlines()


def test_while_a_table_is_locked_there_is_no_advice_but_the_line_that_looks_again(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    side = SideSession(SideJob("table_lock", hold_s=1.0, rest_s=1.0), loaded_lab.root)
    try:
        result = invoke("advise", busy, "--seconds", 5, "--json", tmp_path / "advice.json")
    finally:
        side.stop()
    advice = json.loads((tmp_path / "advice.json").read_text())
    assert (result.code, result.err) == (0, "")
    assert advice["prediction"]["verdict"] == "no advice"
    assert "statements waited for metadata locks" in advice["prediction"]["reasons"][0]
    assert advice["next_steps"] == [f"poolpilot advise {busy}"]
    assert set(advice["next_steps"]) | {OBSERVE_AGAIN} <= set(result.out.splitlines())


def test_advice_without_load_is_refused(invoke: Callable[..., Any], dsn: str) -> None:
    result = invoke("advise", dsn, "--seconds", 0.5)
    assert result.code == 1
    assert "no client sent anything" in result.err


@pytest.mark.parametrize("command", ["climb", "climb --search", "climb --sweep"])
def test_without_execute_nothing_is_set(invoke: Callable[..., Any], dsn: str, lab: Lab, command: str) -> None:
    before = in_force(lab)
    result = invoke(*command.split(), dsn)
    assert result.code == 0
    assert "add --execute" in result.out
    assert in_force(lab) == before


def test_dry_run_of_a_climb_says_which_knobs_it_would_try(invoke: Callable[..., Any], dsn: str) -> None:
    result = invoke("climb", dsn, "--knob", "oversubscribe", "--knob", "pool_size")
    assert result.code == 0
    assert "over pool_size 1..128, oversubscribe 1..32 from" in result.out


def test_many_knobs_are_climbed_and_restored(
    invoke: Callable[..., Any], calm: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before, path = in_force(loaded_lab), tmp_path / "climb.json"
    result = invoke("climb", calm, "--execute", "--knob", "all", "--period", 0.05, "--seconds", 3, "--json", path)
    assert (result.code, result.err) == (0, "")
    tuples = [step["pool_tuple"] for step in json.loads(path.read_text())["steps"]]
    assert all(len({one[name] for one in tuples}) > 1 for name in ("pool_size", "oversubscribe", "timer_interval_ms"))
    assert in_force(loaded_lab) == before


def test_sweep_ranks_tuples_by_time_in_system_and_restores(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {"settle_s": 0.1, "max_settle_s": 0.2, "window_ticks": 0.0, "keep_shares": (0.2,), "final_repeats": 1}
    monkeypatch.setattr(sweep_command, "MARIADB_RACING", MARIADB_RACING.model_copy(update=short))
    before = in_force(loaded_lab)
    options = ("--execute", "--period", 0.2, "--set", "repeats=1", "--json", tmp_path / "sweep.json")
    result = invoke("climb", "--sweep", busy, *options)
    assert (result.code, result.err) == (0, "")
    swept = json.loads((tmp_path / "sweep.json").read_text())
    assert len(swept["configurations"]) == 28
    assert swept["configurations"][0]["gain"] == max(row["gain"] for row in swept["configurations"])
    assert swept["first"] == list(before.core)
    assert in_force(loaded_lab) == before
    size = swept["best"][0]
    assert swept["fragment"][:2] in ([], ["[mariadb]", f"thread_pool_size = {size}"])  # none: within noise of the first
    assert set(swept["statements"]) | set(swept["fragment"]) <= set(result.out.splitlines())


def test_sweep_that_is_broken_off_tells_what_it_has_measured(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {"settle_s": 0.1, "max_settle_s": 0.2, "window_ticks": 0.0}
    monkeypatch.setattr(sweep_command, "MARIADB_RACING", MARIADB_RACING.model_copy(update=short))
    before = in_force(loaded_lab)

    def broken_off(*given: Any, on_measured: Callable[[Any], None], **named: Any) -> None:
        def until_the_first_is_there(one: Any) -> None:
            on_measured(one)
            if one.core == before.core:
                raise LostServerError("the connection is lost")

        sweep(*given, on_measured=until_the_first_is_there, **named)

    monkeypatch.setattr(sweep_command, "race", broken_off)
    result = invoke("climb", "--sweep", busy, "--execute", "--period", 0.2, "--json", tmp_path / "sweep.json")
    assert (result.code, result.err) == (1, "poolpilot: the connection is lost\n")
    swept = json.loads((tmp_path / "sweep.json").read_text())
    assert (swept["finished"], swept["first"]) == (False, list(before.core))
    assert "SET GLOBAL" not in result.out
    assert in_force(loaded_lab) == before


def test_climb_shows_before_and_after_and_restores(
    invoke: Callable[..., Any], calm: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before = in_force(loaded_lab)
    result = invoke("climb", calm, "--execute", "--period", 0.1, "--seconds", 1, "--json", tmp_path / "climb.json")
    assert (result.code, result.err) == (0, "")
    climbed = json.loads((tmp_path / "climb.json").read_text())
    assert [row["when"] for row in climbed["outcome"]] == ["before", "after"]
    assert f"In force now: {before}" in result.out
    assert in_force(loaded_lab) == before


def test_search_shows_first_and_found_and_restores(
    invoke: Callable[..., Any], calm: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before, path = in_force(loaded_lab), tmp_path / "search.json"
    knobs = ("--knob", "pool_size=4,16", "--knob", "timer_interval_ms=10..100")
    options = ("--rounds", 3, "--set", "random_rounds=2", "--period", 0.1, *knobs)
    result = invoke("climb", "--search", calm, "--execute", *options, "--json", path)
    assert (result.code, result.err) == (0, "")
    searched = json.loads(path.read_text())
    assert searched["rounds_done"] == 3
    assert {one["pool_tuple"]["pool_size"] for one in searched["configurations"][1:]} <= {4, 16}
    assert f"In force now: {before}" in result.out
    assert in_force(loaded_lab) == before


def test_warm_climb_may_keep_what_it_ends_on(
    invoke: Callable[..., Any], busy: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before = in_force(loaded_lab)
    result = invoke("climb", busy, "--execute", "--warm", "--keep", "--seconds", 6, "--json", tmp_path / "climb.json")
    assert (result.code, result.err) == (0, "")
    # Not the tuple of the last window: on a slow machine the seconds are over while it is trying.
    ended_on = PoolTuple.from_dict(json.loads((tmp_path / "climb.json").read_text())["ended_on"])
    kept = in_force(loaded_lab)
    with MariadbServer(Dsn(defaults_file=loaded_lab.defaults_file).account()) as server:
        server.apply(before)
    assert kept.core == ended_on.core


def test_ctrl_c_with_keep_leaves_what_the_climb_has_reached_and_writes_it(
    calm: str, loaded_lab: Lab, tmp_path: Path
) -> None:
    before, path = in_force(loaded_lab), tmp_path / "climb.json"
    with PreparedCommand(["climb", calm, "--execute", "--keep", "--json", str(path)], os.environ) as process:
        with Session(loaded_lab.root) as session:
            while session.row("SELECT @@thread_pool_size")[0] == before.pool_size and process.poll() is None:
                time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    reached = in_force(loaded_lab)
    with MariadbServer(Dsn(defaults_file=loaded_lab.defaults_file).account()) as server:
        server.apply(before)
    written = json.loads(path.read_text())
    assert (process.returncode, written["interrupted"]) == (130, True)
    assert f"In force now: {reached}" in said
    assert reached.core in {tuple(step["pool_tuple"][name] for name in CORE_KNOBS) for step in written["steps"]}


def test_human_who_sets_a_tuple_ends_the_climb_and_keeps_theirs(calm: str, loaded_lab: Lab) -> None:
    before = in_force(loaded_lab)
    with PreparedCommand(["climb", calm, "--execute", "--seconds", "60"], os.environ) as process:
        with Session(loaded_lab.root) as human:
            while human.row("SELECT @@thread_pool_size")[0] == before.pool_size and process.poll() is None:
                time.sleep(0.02)
            human.execute("SET GLOBAL thread_pool_oversubscribe = 11")
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert any(line.startswith("poolpilot: ") for line in said.splitlines())
    assert "Traceback" not in said
    assert in_force(loaded_lab).oversubscribe == 11
    with MariadbServer(Dsn(defaults_file=loaded_lab.defaults_file).account()) as server:
        server.apply(before)


def test_check_marks_what_needs_a_restart_or_belongs_to_a_session(
    invoke: Callable[..., Any], dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = invoke("check", dsn, "--seconds", 1, "--json", tmp_path / "check.json")
    assert result.code == 0
    assert "…" not in result.out
    shown = {row["name"]: row["seen"] for row in json.loads((tmp_path / "check.json").read_text())["shows"]}
    assert shown.pop("wait events of files") is False
    assert all(shown.values())
    rows = {row["name"]: row for row in json.loads((tmp_path / "check.json").read_text())["variables"]}
    assert rows["thread_handling"]["set"] == "restart only"
    assert rows["thread_pool_priority"]["set"] == "per session"
    assert rows["thread_pool_size"] | {"origin": ""} == {
        "name": "thread_pool_size",
        "value": "2",
        "low": 1,
        "high": 128,
        "set": "live",
        "knob": True,
        "origin": "",
    }


def test_grants_are_printed_and_give_connection_admin_only_where_asked(invoke: Callable[..., Any]) -> None:
    tuner_may_all = "GRANT CONNECTION ADMIN ON *.* TO `poolpilot`@`localhost`"
    result = invoke("grants", "--set", "most_size=32")
    assert result.code == 0
    assert result.out.index("USAGE") < result.out.index("SQL SECURITY DEFINER") < result.out.index("GRANT EXECUTE")
    assert "BETWEEN 1 AND 32" in result.out
    assert tuner_may_all not in result.out
    assert tuner_may_all in invoke("grants", "--plain").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["advise", "p=secret"], "everybody who may list processes"),
        (["advise", "x=1"], "'x' is unknown"),
        (["advise", "h=127.0.0.1,P=1"], "cannot reach a server"),
        (["advise", "h=db1", "--defaults-file", "/nowhere/my.cnf"], "cannot read the defaults file"),
        (["lab", "load", "--folder", "/nowhere", "--workload", "joins_beside"], "poolpilot lab up"),
        (["lab", "up", "--dataset", "huge"], "there is no data set 'huge'"),
    ],
)
def test_mistakes_are_one_sentence(invoke: Callable[..., Any], arguments: list[str], says: str) -> None:
    result = invoke(*arguments)
    assert result.code == 1
    assert says in result.err
    assert "Traceback" not in result.err
    assert "secret" not in result.err


def test_load_of_a_test_server_ends_cleanly_on_ctrl_c(loaded_lab: Lab, tmp_path: Path) -> None:
    command = [*POOLPILOT, "lab", "load", "--folder", str(loaded_lab.folder), "--workload", "cached_ranges"]
    report = tmp_path / "load.json"
    with subprocess.Popen([*command, "--json", str(report)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "ranges" in process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert json.loads(report.read_text())["classes"][0]["per_s"] > 0.0


def test_workload_of_another_data_set_is_refused(invoke: Callable[..., Any], loaded_lab: Lab) -> None:
    result = invoke("lab", "load", "--folder", loaded_lab.folder, "--workload", "larger_than_memory")
    assert result.code == 1
    assert "wants the data set 'large'" in result.err
    result = invoke("lab", "load", "--folder", loaded_lab.folder, "--workload", "slow_disk")
    assert result.code == 1
    assert "needs a slow disk" in result.err, "before, it ran on the disk as it was"
    result = invoke("lab", "load", "--folder", loaded_lab.folder, "--workload", "nothing")
    assert "there is no workload 'nothing'" in result.err


def test_test_server_goes_up_and_down_by_command(
    invoke: Callable[..., Any],
    mariadb_installed: None,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    up = invoke("lab", "up", "--folder", tmp_path, "--dataset", "empty", "--slow-disk")
    assert (up.code, up.err) == (0, "")
    running = Lab.of(tmp_path).running()
    assert running is not None
    assert account_in_words(running.account, tmp_path.resolve()) in up.out
    assert str(Lab.of(tmp_path).root_file) in up.out
    slow = invoke("lab", "disk", "--folder", tmp_path, "--read-us", 1, "--write-us", 2, "--flush-us", 3)
    assert "a flush 3 us" in slow.out
    down = invoke("lab", "down", "--folder", tmp_path, "--remove")
    assert "is stopped; its data are removed" in down.out
    assert not Path(f"/proc/{running.pid}").exists() or os.waitpid(running.pid, os.WNOHANG)
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


def test_server_that_runs_as_root_is_said_with_what_to_do() -> None:
    assert "as the account mysql" in account_in_words("mysql", Path("/srv/lab"))
    assert "none of the accounts mysql, nobody reaches /root/lab. Name a folder" in account_in_words(
        "root", Path("/root/lab")
    )


def test_workloads_are_listed_with_classes_and_targets(invoke: Callable[..., Any], tmp_path: Path) -> None:
    result = invoke("lab", "workloads", "--json", tmp_path / "workloads.json")
    assert result.code == 0
    listed = json.loads((tmp_path / "workloads.json").read_text())
    assert len(listed) >= 10
    assert all(one["classes"] for one in listed.values())


@pytest.mark.parametrize("command", ["climb", "climb --sweep", "climb --search"])
def test_what_measures_goes_on_where_processors_cannot_be_seen_and_says_so(
    invoke: Callable[..., Any], dsn: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerProcess, "of", lambda *_: None)
    result = invoke(*command.split(), dsn)
    assert (result.code, result.err) == (0, "")
    assert "Warning: the processors of the server are not known" in result.out
    assert "Warning" not in invoke(*command.split(), dsn, "--cpus", 16).out


def test_a_climb_that_nobody_sends_anything_under_tries_nothing_and_says_so(
    invoke: Callable[..., Any], dsn: str, lab: Lab, tmp_path: Path
) -> None:
    before, path = in_force(lab), tmp_path / "climb.json"
    result = invoke("climb", dsn, "--warm", "--execute", "--keep", "--seconds", 3, "--json", path)
    assert result.code == 1
    assert "no client sent anything to" in result.err
    assert in_force(lab) == before
    assert {tuple(step["pool_tuple"].values()) for step in json.loads(path.read_text())["steps"]} == {
        tuple(before.as_dict().values())
    }
