"""The lines that put a configuration in force on a MariaDB server and keep it over a restart, to be copied."""

from dataclasses import dataclass, replace
from typing import Any, Self

from rich.console import Console

from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.actuator import in_order
from poolpilot.mariadb.variables import KNOB_VARIABLES

SECTION = "[mariadb]"
"""Group of a my.cnf that MariaDB's server reads, and no other server."""


@dataclass(frozen=True, slots=True)
class SettingLines:
    """What a DBA copies to get from one configuration to another; nothing where they are the same.

    Attributes:
        statements: `SET GLOBAL` statements for what differs, capacity first.
        fragment: The same for my.cnf, since a restart forgets what was set.
    """

    statements: tuple[str, ...] = ()
    fragment: tuple[str, ...] = ()

    @classmethod
    def between(cls, in_force: PoolTuple, wanted: PoolTuple) -> Self:
        """The lines from what is in force, or will be again once the command has ended, to what is wanted."""
        changed = in_order(in_force, wanted)
        if not changed:
            return cls()
        kept = [name for name in KNOB_VARIABLES if name in changed or name in CORE_KNOBS]
        return cls(
            tuple(f"SET GLOBAL {_assigned(name, wanted)};" for name in changed),
            (SECTION, *(_assigned(name, wanted) for name in kept)),
        )

    def print(self, console: Console) -> None:
        """Prints both, each below what it is for."""
        for heading, lines in (
            ("To set it now, capacity first:", self.statements),
            ("A restart forgets that; for my.cnf:", self.fragment),
        ):
            if lines:
                console.print(heading, *lines, sep="\n", highlight=False, soft_wrap=True)

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {"statements": list(self.statements), "fragment": list(self.fragment)}


def lines_to_keep(target: Target, first: PoolTuple, found: PoolTuple, *, kept: bool = False) -> SettingLines:
    """The lines to what a command has found on a server; none but for a MariaDB.

    Args:
        target: The server.
        first: What was in force at the beginning, and returns.
        found: What is better.
        kept: Whether that stays in force, so that only a restart forgets it.
    """
    if target.origin.get("backend") != "mariadb":
        return SettingLines()
    lines = SettingLines.between(first, found)
    return replace(lines, statements=()) if kept else lines


def _assigned(name: str, pool_tuple: PoolTuple) -> str:
    return f"{KNOB_VARIABLES[name][0].lower()} = {int(getattr(pool_tuple, name))}"
