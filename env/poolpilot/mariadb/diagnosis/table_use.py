"""Which tables a statement uses, and how, as far as its text tells: what it can hold others off from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from poolpilot.mariadb.diagnosis.statement_kind import changes_tables, kind_of

NAME = r"(?:`[^`]+`|[A-Za-z_$\u0080-\uffff][\w$]*|\d+[A-Za-z_$][\w$]*)"
TABLE_AT = re.compile(rf"(?P<first>{NAME})(?: ?\. ?(?P<second>{NAME}))?")
NOT_SQL = re.compile(r"'(?:[^'\\]|\\.|'')*'|/\*(?!M?!).*?\*/|--\s[^\n]*|#[^\n]*", re.DOTALL)
"""Strings and comments, where words are no words of the statement."""

BEFORE_TABLES = re.compile(
    r"\b(?:(?:FROM|JOIN|STRAIGHT_JOIN)[ (]+"
    r"|(?:INTO|TABLES?|TRUNCATE|REPLACE|INSERT|HANDLER|(?<!FOR )(?<!KEY )(?<!ON )UPDATE) )"
    r"(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE|IF|NOT|EXISTS|ONLY|INTO|TABLE) )*",
    re.IGNORECASE,
)
ON_TABLE = re.compile(r"\bON ", re.IGNORECASE)
"""What stands before the table of an index or a trigger."""

NEXT_OF_LIST = re.compile(rf"(?: (?:AS )?{NAME})?(?: (?:READ|WRITE|LOCAL|LOW_PRIORITY))* ?, ?", re.IGNORECASE)
"""From a table of a list to the next: an alias, the lock that is wanted, a comma."""

NO_TABLES = frozenset({"dual", "select", "set", "values", "outfile", "dumpfile", "lateral", "table", "where", "with"})

READS = ("SELECT", "WITH", "SHOW", "DESC", "DESCRIBE", "EXPLAIN", "CHECKSUM", "TABLE", "VALUES", "HANDLER", "CHECK")
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD")
LOCKS_FOR_WRITING = re.compile(r"\bFOR\s+UPDATE\b|\bLOCK\s+IN\s+SHARE\s+MODE\b", re.IGNORECASE)
CHANGES = re.compile(
    r"(?:LOCK|FLUSH)(?: LOCAL| NO_WRITE_TO_BINLOG)* TABLES?|(?:CREATE|DROP)(?: OR REPLACE)? (?:TRIGGER|VIEW)"
)
"""Statements that want a table for themselves as those do that change it."""


MOST_TEXTS = 4096
"""Texts whose use is kept: thousands of sessions that pile up mostly send the same few statements."""


class Access(IntEnum):
    """How a table is used, from what goes together with the most to what goes together with nothing."""

    READ = 0
    WRITE = 1
    CHANGE = 2


@dataclass(frozen=True, slots=True)
class TableUse:
    """What a statement does to which tables.

    Attributes:
        access: The most that it does to one; None where its text does not say, as of a CALL.
        tables: What it does to each table that it names, `schema.table` in small letters; without a schema where
            neither the text nor the session has one.
    """

    access: Access | None
    tables: Mapping[str, Access] = field(default_factory=dict)

    def access_to(self, table: str) -> Access | None:
        """What it does to a table; None where it does not name it."""
        return next((access for name, access in self.tables.items() if is_same(name, table)), None)


def is_same(one: str, other: str) -> bool:
    """Whether two names may mean one table: a name without a schema fits every schema."""
    schema, _, name = one.casefold().rpartition(".")
    other_schema, _, other_name = other.casefold().rpartition(".")
    return name == other_name and (schema == other_schema or not (schema and other_schema))


@lru_cache(MOST_TEXTS)
def table_use(text: str | None, schema: str) -> TableUse:
    """What a statement uses, by its text. A view stands for itself, and what a trigger or function uses is not seen.

    Args:
        text: The statement.
        schema: Its default database.

    Examples:
        >>> table_use("INSERT INTO orders SELECT * FROM archive.orders", "shop").tables
        {'shop.orders': <Access.WRITE: 1>, 'archive.orders': <Access.READ: 0>}
    """
    bare = " ".join(NOT_SQL.sub(" ", text or "").split())
    access = _access(bare)
    return TableUse(access, {} if access is None else dict(_tables(bare, schema, access)))


def _access(bare: str) -> Access | None:
    kind = kind_of(bare)
    word = kind.partition(" ")[0]
    if changes_tables(bare) or CHANGES.fullmatch(kind):
        return Access.CHANGE
    if word in WRITES:
        return Access.WRITE
    if word in READS:
        return Access.WRITE if LOCKS_FOR_WRITING.search(bare) else Access.READ
    return None


def _tables(bare: str, schema: str, access: Access) -> Iterator[tuple[str, Access]]:
    """The tables with what is done to them; what is read for an INSERT or a new table comes after FROM or JOIN."""
    kind = kind_of(bare)
    reads_others = kind.startswith(("INSERT", "REPLACE", "CREATE"))
    for before in BEFORE_TABLES.finditer(bare):
        is_read = reads_others and before.group().upper().startswith(("FROM", "JOIN", "STRAIGHT"))
        yield from ((table, Access.READ if is_read else access) for table in _listed(bare, before.end(), schema))
    if kind.endswith(("INDEX", "TRIGGER")):
        for before in ON_TABLE.finditer(bare):
            yield from ((table, access) for table in _listed(bare, before.end(), schema))


def _listed(bare: str, start: int, schema: str) -> Iterator[str]:
    """The tables of a list that begins somewhere."""
    at: int | None = start
    while at is not None and (found := TABLE_AT.match(bare, at)):
        first, second = (found[part].strip("`").casefold() if found[part] else "" for part in ("first", "second"))
        if second:
            yield f"{first}.{second}"
        elif first not in NO_TABLES or found["first"].startswith("`"):
            yield f"{schema.casefold()}.{first}".removeprefix(".")
        following = NEXT_OF_LIST.match(bare, found.end())
        at = following.end() if following else None
