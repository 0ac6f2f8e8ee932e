"""What somebody else does on a test server meanwhile: a table altered, a backup's locks, a table locked for writing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from poolpilot.errors import SettingError

SideKind = Literal["alter_table", "backup_stage", "global_read_lock", "table_lock"]


OF_A_TABLE: tuple[SideKind, ...] = ("alter_table", "table_lock")
"""Those that need the first of sysbench's tables."""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a side job.

    Attributes:
        begin: Those that begin what it does; an ALTER TABLE is all there is.
        end: Those that end it.
    """

    begin: tuple[str, ...]
    end: tuple[str, ...] = ()


STATEMENTS: Mapping[SideKind, Statements] = {
    # A copy is what an ALTER TABLE without an online algorithm does; it holds off writers until its last row.
    "alter_table": Statements(("ALTER TABLE sbtest.sbtest1 FORCE, ALGORITHM=COPY",)),
    "backup_stage": Statements(
        (
            "BACKUP STAGE START",
            "BACKUP STAGE FLUSH",
            "BACKUP STAGE BLOCK_DDL",
            "BACKUP STAGE BLOCK_COMMIT",
        ),
        ("BACKUP STAGE END",),
    ),
    "global_read_lock": Statements(("FLUSH TABLES WITH READ LOCK",), ("UNLOCK TABLES",)),
    "table_lock": Statements(("LOCK TABLES sbtest.sbtest1 WRITE",), ("UNLOCK TABLES",)),
}
"""`sbtest1` is the first of the tables that sysbench's scripts choose from at random."""


@dataclass(frozen=True, slots=True)
class SideJob:
    """Something that one more connection does again and again beside the load.

    Attributes:
        kind: What it does.
        hold_s: Seconds between its begin and its end.
        rest_s: Seconds from its end to its next begin.
    """

    kind: SideKind
    hold_s: float = 0.0
    rest_s: float = 1.0

    def __post_init__(self) -> None:
        """Refuses what no side session does.

        Raises:
            SettingError: There is no such kind, or the times are outside 0..60 s, or it would never rest.
        """
        if self.kind not in get_args(SideKind):
            raise SettingError(f"there is no side job {self.kind!r}; there are {', '.join(get_args(SideKind))}")
        if not 0.0 <= self.hold_s <= 60.0 or not 0.1 <= self.rest_s <= 60.0:
            raise SettingError(
                f"the side job {self.kind} holds for {self.hold_s:g} s and rests for {self.rest_s:g} s; allowed are "
                "0..60 and 0.1..60"
            )

    @property
    def cycle_s(self) -> float:
        """Seconds from one begin to the next, but for what the statements take themselves."""
        return self.hold_s + self.rest_s
