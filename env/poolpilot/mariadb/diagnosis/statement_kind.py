"""What kind of statement a text is. Only its kind is ever shown: the text may hold passwords and data of clients."""

import re

BEFORE_IT = re.compile(
    r"(?:\s|\(|/\*(?!M?!).*?\*/|/\*M?!\d*|--[^\n]*\n|#[^\n]*\n|SET\s+STATEMENT\s.*?\sFOR\s)+", re.IGNORECASE | re.DOTALL
)
"""Comments and brackets before the first word of a statement, and what binds variables to it; `/*!50000` is read over,
since what follows it is run."""

WORDS_OF_KIND = re.compile(
    r"(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|OPTIMIZE|REPAIR|ANALYZE|CHECK|LOCK|UNLOCK|BACKUP|FLUSH|START|STOP|SHOW|SET|XA)"
    r"(?:\s+OR\s+REPLACE)?(?:\s+(?:ONLINE|IGNORE|TEMPORARY|UNIQUE|FULLTEXT|SPATIAL|NO_WRITE_TO_BINLOG|LOCAL))*\s+\w+|\w+",
    re.IGNORECASE,
)

CHANGES_TABLES = re.compile(
    r"(?:ALTER|DROP|RENAME|OPTIMIZE|REPAIR)(?: OR REPLACE)?(?: ONLINE| IGNORE| UNIQUE| FULLTEXT| SPATIAL"
    r"| NO_WRITE_TO_BINLOG| LOCAL)* (?:TABLES?|INDEX)"
    r"|CREATE(?: OR REPLACE)?(?: UNIQUE| FULLTEXT| SPATIAL)* (?:TABLE|INDEX)|TRUNCATE \w+"
)
"""Kinds of statements that change or rebuild a table; one that is temporary is nobody else's."""

LOCKS_ALL = re.compile(r"FLUSH\b.*\bWITH\s+READ\s+LOCK\b", re.IGNORECASE | re.DOTALL)
DUMPS = re.compile(r"\s*SELECT\s*/\*!40001\s+SQL_NO_CACHE\s*\*/", re.IGNORECASE)
"""How mariadb-dump and mysqldump read a table, and nobody else."""


def kind_of(text: str | None) -> str:
    """The first words of a statement that say what it does, in capitals: `ALTER TABLE`, `COMMIT`; empty for none.

    Examples:
        >>> kind_of("/* nightly */ alter  table orders add note text"), kind_of("UPDATE orders SET note = 'x'")
        ('ALTER TABLE', 'UPDATE')
    """
    before = BEFORE_IT.match(text or "")
    words = WORDS_OF_KIND.match(text or "", before.end() if before else 0)
    return " ".join(words.group().upper().split()) if words else ""


def changes_tables(text: str | None) -> bool:
    """Whether a statement changes or rebuilds a table that others use."""
    return CHANGES_TABLES.fullmatch(kind_of(text)) is not None


def backs_up(text: str | None) -> bool:
    """Whether a statement belongs to a backup: a lock for all tables, a stage, or the reading of a dump."""
    if text is None:
        return False
    kind = kind_of(text)
    return (
        kind.startswith("BACKUP ")
        or (kind.startswith("FLUSH") and bool(LOCKS_ALL.search(text)))
        or bool(DUMPS.match(text))
    )
