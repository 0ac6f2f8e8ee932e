"""Logs and kept files of releases before 0.2.0, in which much was called otherwise, are read and replayed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.serve.tuner.conftest import Drive, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.tune.replayed_log import ReplayedLog
from poolpilot.serve.page.server_history import ServerHistory
from poolpilot.serve.tuner.caution import Caution
from poolpilot.serve.tuner.decision_log import DecisionLog, read_log
from poolpilot.serve.tuner.decision_replay import replayed
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.older_names import DECISION, MEMORY, RULES, named_as_now, rules_named_as_now

MakeDrive = Callable[..., Drive]

LINE = (
    '{"look": {"at_s": 2.0, "unix_s": 20.0, '
    '"in_force": {"pool_size": 2, "oversubscribe": 3, "timer_interval_ms": 500}}, '
    '"decision": {"state": "try", "pool_tuple": null, '
    '"verified": {"pool_size": 2, "oversubscribe": 3, "timer_interval_ms": 500}, "reason": "it is tried"}}'
)
HEAD = '{"log": 1, "server": "db1", "mode": "apply", "memory": {}, "rules": {}}'


def named_before(values: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """By the names of then."""
    then = {now: older for older, now in names.items()}
    return {then.get(name, name): value for name, value in values.items()}


def state_before(values: dict[str, Any]) -> dict[str, Any]:
    """With the name of then for the state of a trial."""
    return {**values, "state": "try"} if values["state"] == State.TRIAL else values


def write_as_before(path: Path) -> None:
    """Writes a log anew as the release before would have."""
    head, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    rules = {part: named_before(head["rules"][part], names) for part, names in RULES.items()}
    memory = named_before(state_before(head["memory"]), MEMORY)
    said = [{**head, "log": 1, "memory": memory, "rules": {**head["rules"], **rules}}]
    for line in lines:
        decision = named_before(state_before(line.pop("decision")), DECISION)
        said.append({"look": line.pop("observation"), "decision": {**decision, "reason": "in other words"}, **line})
    path.write_text("".join(f"{json.dumps(each)}\n" for each in said), encoding="utf-8")


@pytest.fixture
def tuner(drive: MakeDrive, tmp_path: Path) -> Drive:
    """One whose log of then lies in the folder of the test."""
    tuner = drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03)
    log = DecisionLog(tmp_path, "db1")
    log.begin_file(tuner.rules)
    for _ in range(120):
        before = tuner.memory
        tuner.turn()
        log.write(before, tuner.observations[-1], tuner.decision)
    log.close()
    write_as_before(log.path)
    return tuner


def without_words(decision: Decision) -> Decision:
    return decision.model_copy(update={"reason": ""})


def test_an_older_log_is_read_and_replayed(tuner: Drive, tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    assert '"state": "try"' in path.read_text(encoding="utf-8")
    lines = list(read_log(path))
    assert [line.observation for line in lines] == tuner.observations
    assert [without_words(line.decision) for line in lines] == [without_words(each) for each in tuner.decisions]
    assert len(pairs := list(replayed(path))) == 120
    assert all(then == now for then, now in pairs)
    assert ReplayedLog.of([path]).differing == ()


def test_an_older_log_that_says_otherwise_differs(tuner: Drive, tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    *begin, last = path.read_text(encoding="utf-8").splitlines()
    line = json.loads(last)
    line["decision"]["workload"] = 77
    path.write_text("\n".join([*begin, json.dumps(line), ""]), encoding="utf-8")
    assert len(ReplayedLog.of([path]).differing) == 1
    assert tuner.decision.workload != 77


def test_the_page_shows_an_older_line(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").write_text(f"{HEAD}\n{LINE}\n", encoding="utf-8")
    history = ServerHistory("db1", tmp_path)
    history.follow()
    row = history.rows[-1]
    assert (row.state, row.incumbent, row.reason, history.unreadable) == (State.TRIAL, (2, 3, 500), "it is tried", 0)
    assert [line.decision.incumbent.core for line in read_log(tmp_path / "decisions.jsonl")] == [(2, 3, 500)]


def test_older_caution_holds() -> None:
    """What was refused, and how often something was tried, outlives an upgrade."""
    kept = Caution.model_validate_json(
        '{"trying": {"pool_size": 4, "oversubscribe": 3, "timer_interval_ms": 500}, "tries_s": [99.0]}'
    )
    memory = kept.onto(Memory.begin(PoolTuple(2, 3, 500), 10.0), 100.0, GuardSettings())
    assert memory.refuses(PoolTuple(4, 3, 500))
    assert memory.trials_s == (9.0,)


@pytest.mark.parametrize("values", [None, 7, [], "memory"])
def test_what_is_no_object_stays_for_its_model_to_refuse(values: object) -> None:
    assert named_as_now(values, MEMORY) == values
    assert rules_named_as_now(values) == values
    assert rules_named_as_now({"guard": values}) == {"guard": values}
