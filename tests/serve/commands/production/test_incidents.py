"""A roll-back is told from what was in force, window by window; what did not happen is refused."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.journal import Journal
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.serve.commands.production.incidents import GivenBack, RolledBack, check, left_on, roll_back_in
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation

SAFE, BAD = PoolTuple(16, 3, 10), PoolTuple(1, 1, 160)
ROLLED, GIVEN = RolledBack(BAD, 1, SAFE, "worse"), GivenBack(PoolTuple(8, 3, 10), SAFE, 1.2)


def lines(*in_force: PoolTuple | None, then: PoolTuple = SAFE) -> Sequence[LoggedDecision]:
    decision = Decision(state=State.WATCH, pool_tuple=then, incumbent=SAFE, reason="because")
    return [
        LoggedDecision(Observation(at_s=float(place), unix_s=0.0, in_force=each), decision)
        for place, each in enumerate(in_force)
    ]


def test_windows_of_what_was_planted_are_counted() -> None:
    found = roll_back_in(lines(SAFE, SAFE, BAD, BAD, SAFE), SAFE)
    assert (found.bad, found.windows, found.back, found.in_time) == (BAD, 2, SAFE, True)


def test_third_window_is_too_late() -> None:
    assert not roll_back_in(lines(SAFE, BAD, BAD, BAD, SAFE), SAFE).in_time


@pytest.mark.parametrize("in_force", [(SAFE, SAFE), (SAFE, BAD), (SAFE, BAD, None)])
def test_nothing_is_taken_back_before_the_verified_tuple_is_in_force(in_force: tuple[PoolTuple | None, ...]) -> None:
    assert roll_back_in(lines(*in_force), SAFE).back is None


def test_window_beside_the_try_is_no_roll_back() -> None:
    """The tuple before is in force again only for the next window of the pair."""
    assert roll_back_in(lines(SAFE, BAD, SAFE, then=BAD), SAFE).back is None


def test_both_must_have_happened() -> None:
    check(ROLLED, GIVEN)
    with pytest.raises(ServerError, match="was not rolled back within 2 windows"):
        check(RolledBack(BAD, 3, SAFE, "late"), GIVEN)
    with pytest.raises(ServerError, match="was not rolled back within 2 windows"):
        check(RolledBack(None, 0, None, ""), GIVEN)
    with pytest.raises(ServerError, match="was not given back"):
        check(ROLLED, GivenBack(PoolTuple(8, 3, 10), SAFE, None))


def test_what_a_tuner_left_is_told_while_its_server_runs(tmp_path: Path) -> None:
    tried, knobs, identity = PoolTuple(8, 3, 10), KnobSpace.stock(cpus=2), ("db1", "/data/", "10.11", 1_700_000_000)
    session = SimpleNamespace(row=lambda _: identity)
    server = cast(MariadbServer, SimpleNamespace(session=session, knobs=knobs, tuple_in_force=lambda: tried))
    still = f"{tried} was still in force when its server was stopped"
    assert left_on(server, tmp_path) == f"{still}, though somebody has ended the journal in {tmp_path}"
    journal = Journal.begin(tmp_path, ServerIdentity(*identity), SAFE, knobs, "tune")
    left = left_on(server, tmp_path)
    assert left.startswith(f"{still}, {SAFE} was to come back")
    with pytest.raises(ServerError, match="was not given back") as refused:
        check(ROLLED, GivenBack(tried, SAFE, None, left))
    assert str(journal.path) in str(refused.value)
    assert "poolpilot restore" not in str(refused.value), "it would find no server"
    journal.path.write_text("nonsense\n", encoding="utf-8")
    assert "is damaged" in left_on(server, tmp_path)
