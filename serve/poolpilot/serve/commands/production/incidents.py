"""Two incidents: a prediction that is plainly bad, and a tuner that is killed in the middle of a trial."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolpilot.errors import JournalError, ServerError, StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.identity_query import read_identity
from poolpilot.mariadb.restoration.journal import Journal
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.pipelines.demo.production.shifting_load import LoadedLab
from poolpilot.serve.commands.production.tuner_child import TunerChild
from poolpilot.serve.tuner.decision_log import NAME, LoggedDecision, read_log

POLL_S = 0.1
MOST_WINDOWS = 2
"""A bad prediction may be in force for so many windows."""

ATTEMPTS = 5
"""A tuner that is killed between two windows may have gone back already; then it is killed again in another trial."""


@dataclass(frozen=True)
class RolledBack:
    """What became of a bad prediction.

    Attributes:
        bad: The tuple that was planted.
        windows: Windows in which it was in force; 0 where it never was.
        back: The tuple in force after them; None where it was not rolled back in time.
        reason: Why it was rolled back, as the tuner said.
    """

    bad: PoolTuple | None
    windows: int
    back: PoolTuple | None
    reason: str

    @property
    def in_time(self) -> bool:
        """Whether it was rolled back within two windows."""
        return self.back is not None and 0 < self.windows <= MOST_WINDOWS

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {
            "planted": None if self.bad is None else list(self.bad.core),
            "windows": self.windows,
            "back": None if self.back is None else list(self.back.core),
            "reason": self.reason,
            "in_time": self.in_time,
        }


@dataclass(frozen=True)
class GivenBack:
    """What became of the tuple that a killed tuner was trying.

    Attributes:
        tried: The tuple that was in force when it died.
        incumbent: The one that must come back.
        seconds: From its death until that was in force; None where it never was, or no trial was caught.
        left: What the server and its journal said where it never was.
    """

    tried: PoolTuple | None
    incumbent: PoolTuple
    seconds: float | None
    left: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        tried = None if self.tried is None else list(self.tried.core)
        return {"tried": tried, "verified": list(self.incumbent.core), "seconds": self.seconds}


def roll_back_of(log: Path, incumbent: PoolTuple, child: TunerChild, deadline_s: float) -> RolledBack:
    """Waits until a tuner has set what was planted and has rolled it back.

    Args:
        log: Folder of its decisions.
        incumbent: What was in force before.
        child: The tuner.
        deadline_s: Seconds to wait at most.
    """
    ends_s = time.monotonic() + deadline_s
    found = RolledBack(None, 0, None, "")
    while found.back is None and child.alive and time.monotonic() < ends_s:
        time.sleep(POLL_S)
        found = roll_back_in(_decisions(log), incumbent)
    return found


def roll_back_in(lines: Sequence[LoggedDecision], incumbent: PoolTuple) -> RolledBack:
    """The first tuple other than the verified one that was in force, for how many windows, and what followed."""
    bad, windows, reason = None, 0, ""
    for line in lines:
        in_force = line.observation.in_force
        if in_force is not None and in_force != incumbent:
            bad, windows, reason = in_force, windows + 1, line.decision.reason
        elif in_force == incumbent and bad is not None and line.decision.pool_tuple == incumbent:
            return RolledBack(bad, windows, incumbent, reason)
    return RolledBack(bad, windows, None, reason)


def give_back_of(place: LoadedLab, incumbent: PoolTuple, child: TunerChild, deadline_s: float) -> GivenBack:
    """Kills a tuner while what it tries is in force, and waits until its keeper has brought the incumbent back.

    Args:
        place: The server.
        incumbent: What must come back.
        child: The tuner, at the beginning of an endless trial.
        deadline_s: Seconds to wait at most, for the trial and until the incumbent is back.

    Raises:
        ServerError: The server cannot be reached.
    """
    with place.tuner_server() as server:
        ends_s = time.monotonic() + deadline_s
        while (tried := server.tuple_in_force()) == incumbent:
            if time.monotonic() > ends_s or not child.alive:
                return GivenBack(None, incumbent, None)
            time.sleep(POLL_S / 4)
        child.kill()
        died_s = time.monotonic()
        if server.tuple_in_force() == incumbent:
            return GivenBack(None, incumbent, None)
        while time.monotonic() < died_s + deadline_s:
            if server.tuple_in_force() == incumbent:
                return GivenBack(tried, incumbent, time.monotonic() - died_s)
            time.sleep(POLL_S)
        return GivenBack(tried, incumbent, None, left_on(server, child.journals))


def left_on(server: MariadbServer, journals: Path) -> str:
    """What a tuner that died has left on its server, in words: the server of a demonstration does not outlive it."""
    in_force = f"{server.tuple_in_force()} was still in force when its server was stopped"
    try:
        journal = Journal.find(journals, read_identity(server.session), server.knobs)
    except JournalError as error:
        return f"{in_force}: {error}"
    if journal is None:
        return f"{in_force}, though somebody has ended the journal in {journals}"
    return f"{in_force}, {journal.first} was to come back: so says the journal of {journal}, {journal.path}"


def check(rolled_back: RolledBack, given_back: GivenBack) -> None:
    """Refuses a demonstration that did not show what it promises.

    Raises:
        ServerError: It did not; the text says what was missing.
    """
    if not rolled_back.in_time:
        raise ServerError(
            f"the planted prediction was not rolled back within {MOST_WINDOWS} windows: {rolled_back.as_dict()}; the "
            "decisions in the output folder say what the tuner saw"
        )
    if given_back.seconds is None:
        raise ServerError(
            f"what the killed tuner was trying was not given back: {given_back.as_dict()}; "
            f"{given_back.left or 'no trial of it was seen'}"
        )


def _decisions(log: Path) -> list[LoggedDecision]:
    try:
        return list(read_log(log / NAME))
    except StoreError:  # it has not begun
        return []
