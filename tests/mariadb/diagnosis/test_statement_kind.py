"""The kind of a statement is told behind comments, and nothing but its kind is."""

import pytest

from poolpilot.mariadb.diagnosis.statement_kind import backs_up, changes_tables, kind_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (None, ""),
        ("", ""),
        ("COMMIT", "COMMIT"),
        ("update t set password = 'secret'", "UPDATE"),
        ("  (SELECT 1) UNION (SELECT 2)", "SELECT"),
        ("/* app:7 */ -- nightly\n alter   table t force", "ALTER TABLE"),
        ("/*!40000 ALTER TABLE t DISABLE KEYS */", "ALTER TABLE"),
        ("/*M!100100 DROP TABLE t */", "DROP TABLE"),
        ("SET STATEMENT max_statement_time=5 FOR ALTER TABLE t FORCE", "ALTER TABLE"),
        ("CREATE OR REPLACE UNIQUE INDEX a ON t (b)", "CREATE OR REPLACE UNIQUE INDEX"),
        ("SET PASSWORD = PASSWORD('secret')", "SET PASSWORD"),
        ("BACKUP STAGE START", "BACKUP STAGE"),
    ],
)
def test_kind(text: str | None, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE t FORCE",
        "ALTER ONLINE TABLE t FORCE",
        "ALTER IGNORE TABLE t FORCE",
        "CREATE UNIQUE INDEX a ON t (b)",
        "CREATE OR REPLACE TABLE t (a INT)",
        "DROP INDEX a ON t",
        "DROP TABLE t",
        "TRUNCATE t",
        "truncate table t",
        "RENAME TABLE t TO u",
        "OPTIMIZE NO_WRITE_TO_BINLOG TABLE t",
    ],
)
def test_what_changes_tables(text: str) -> None:
    assert changes_tables(text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "SELECT 'ALTER TABLE t'",
        "CREATE TEMPORARY TABLE t (a INT)",
        "DROP TEMPORARY TABLE t",
        "ALTER USER u",
        "/* ALTER TABLE t */ DO 1",
    ],
)
def test_what_changes_none(text: str | None) -> None:
    assert not changes_tables(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("BACKUP STAGE BLOCK_COMMIT", True),
        ("BACKUP LOCK t", True),
        ("flush tables with read lock", True),
        ("FLUSH LOCAL TABLES t, u WITH READ LOCK", True),
        ("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", True),
        ("FLUSH TABLES", False),
        ("SELECT SQL_NO_CACHE * FROM t", False),
        ("SELECT 'FLUSH TABLES WITH READ LOCK'", False),
        (None, False),
    ],
)
def test_what_backs_up(text: str | None, is_one: bool) -> None:
    assert backs_up(text) is is_one
