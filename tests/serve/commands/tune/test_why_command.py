"""What is new among decisions; and when each was made, with its zone: the hour that comes twice in autumn is two."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.commands.tune.why_command import as_row, new_ones
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_decisions_of_the_hour_that_comes_twice_are_told_apart() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()
    decision = Decision(state=State.HOLD, pool_tuple=None, incumbent=PoolTuple(2, 3, 500), reason="", workload=0)
    rows = [
        as_row(LoggedDecision(Observation(at_s=0.0, unix_s=at, in_force=None), decision))
        for at in (first, first + 3600.0)
    ]
    assert [row["when"] for row in rows] == ["2026-10-25 02:30:00+02:00", "2026-10-25 02:30:00+01:00"]
    assert [row["unix_s"] for row in rows] == [first, first + 3600.0]


def test_what_goes_on_beside_the_pool_is_told_once() -> None:
    """Before, every window of a backup was told, since its reason says for how long that has gone on."""
    reasons = (
        "nothing is changed now: session 12 of dump@db1 backs up: SELECT for 37 s",
        "nothing is changed now: session 12 of dump@db1 backs up: SELECT for 142 s",
        "watching: 1 windows of 4, 5 s",
        "nothing is changed now: session 12 of dump@db1 backs up: SELECT for 147 s",
        "1 windows of (4, 3, 500) beside (2, 3, 500)",
        "2 windows of (4, 3, 500) beside (2, 3, 500)",
    )
    backup = (Hindrance("session 12 of dump@db1 backs up: SELECT"),)
    watching = Decision(state=State.WATCH, pool_tuple=None, incumbent=PoolTuple(2, 3, 500), reason="")
    lines = [
        LoggedDecision(
            Observation(at_s=at, unix_s=at, in_force=None, hindrances=backup if "dump" in reason else ()),
            watching.model_copy(update={"reason": reason, "routine": at == 2}),
        )
        for at, reason in enumerate(reasons)
    ]
    assert [line.decision.reason for line in new_ones(lines)] == [reasons[index] for index in (0, 3, 4, 5)]
