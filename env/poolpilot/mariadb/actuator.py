"""How a tuple gets into the server: plain `SET GLOBAL`, or a procedure that checks ranges inside the database."""

import re
from dataclasses import dataclass, replace
from typing import Protocol

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.variables import KNOB_VARIABLES

PROCEDURE = "poolpilot.apply_pool"
"""Schema and name of the procedure that `poolpilot grants` prints."""

PROCEDURE_NAME = re.compile(r"[A-Za-z0-9_$]{1,64}\.[A-Za-z0-9_$]{1,64}")
"""Names that a statement may hold as they are: a journal hands them on to whoever restores."""

LEAST_STALL_LIMIT_MS = 10
"""Shortest stall limit that the procedure takes, unless somebody has had it printed otherwise."""

MORE_IS_LESS = ("timer_interval_ms",)
"""Knobs whose rise takes capacity away: a longer timer wakes workers later."""


class Actuator(Protocol):
    """Something that can bring the server from one tuple to another."""

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        """Sets what differs.

        Raises:
            ServerError: The server did not take a value; what was set before it is still set.
        """


def checked_procedure(name: str) -> str:
    """The name of a procedure, with its schema.

    Raises:
        SettingError: It is no such name.
    """
    if not PROCEDURE_NAME.fullmatch(name):
        raise SettingError(
            f"the procedure {name!r} is none that can be called: write schema.procedure, such as {PROCEDURE}, each of "
            "1..64 letters, digits, _ or $, without backquotes"
        )
    return name


def in_order(before: PoolTuple, after: PoolTuple) -> list[str]:
    """Knobs that differ, those that add capacity first: between two settings the pool never has too little."""
    changes: dict[str, float] = {}
    for name in KNOB_VARIABLES:
        rise = getattr(after, name) - getattr(before, name)
        if rise:
            changes[name] = -rise if name in MORE_IS_LESS else rise
    return sorted(changes, key=lambda name: changes[name] < 0)


def statements(before: PoolTuple, after: PoolTuple) -> tuple[str, ...]:
    """What sets the variables that differ, one a statement, those that add capacity first.

    A variable that no longer has its old value is left alone: somebody else has set it since the last reading.
    """
    return tuple(
        f"SET GLOBAL {variable} = IF(@@GLOBAL.{variable} = {old}, {new}, @@GLOBAL.{variable})"
        for variable, old, new in (
            (KNOB_VARIABLES[name][0].lower(), int(getattr(before, name)), int(getattr(after, name)))
            for name in in_order(before, after)
        )
    )


class SetGlobal:
    """`SET GLOBAL thread_pool_*`; needs CONNECTION ADMIN."""

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        """Sets what differs and still has its old value, one variable a statement; see `Actuator.set`."""
        for statement in statements(before, after):
            session.execute(statement)


@dataclass(frozen=True)
class CallProcedure:
    """`CALL poolpilot.apply_pool(size, oversubscribe, stall_limit)`; needs EXECUTE on it and nothing else.

    Attributes:
        name: Schema and name of the procedure.
    """

    name: str = PROCEDURE

    def __post_init__(self) -> None:
        """Refuses a name that its journal could not be gone by.

        Raises:
            SettingError: See `checked_procedure`.
        """
        checked_procedure(self.name)

    def set(self, session: Session, before: PoolTuple, after: PoolTuple) -> None:
        """Sets the core tuple; see `Actuator.set`.

        Raises:
            ServerError: The idle timeout differs, which the procedure does not set, or the server refuses.
        """
        if before.idle_timeout_s != after.idle_timeout_s:
            raise ServerError(
                f"the procedure {self.name} sets pool size, oversubscribe and stall limit alone; keep idle_timeout_s "
                f"at {before.idle_timeout_s:g}"
            )
        session.execute(f"CALL {self.name}(%s, %s, %s)", after.core)

    def narrowed(self, knobs: KnobSpace, in_force: PoolTuple) -> KnobSpace:
        """With no shorter stall limit than the procedure takes as it is printed, unless a shorter one is in force."""
        timer = knobs.knobs["timer_interval_ms"]
        low = max(timer.low, min(LEAST_STALL_LIMIT_MS, in_force.timer_interval_ms, timer.default))
        return replace(knobs, knobs={**knobs.knobs, timer.name: replace(timer, low=low)})
