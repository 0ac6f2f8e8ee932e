"""What a statement can hold others off from is told by its text: which tables, and how it uses them."""

import pytest

from poolpilot.mariadb.diagnosis.table_use import Access, is_same, table_use

READ, WRITE, CHANGE = Access


@pytest.mark.parametrize(
    ("text", "access", "tables"),
    [
        (None, None, {}),
        ("SELECT 1", READ, {}),
        ("SELECT * FROM orders, old.orders o, `new items` AS i", READ, {"shop.orders", "old.orders", "shop.new items"}),
        ("SELECT a FROM orders WHERE note = 'from items' /* join t */", READ, {"shop.orders"}),
        ("SELECT a FROM orders WHERE id = 1 FOR UPDATE", WRITE, {"shop.orders"}),
        ("SELECT o.a FROM (SELECT * FROM items) o LEFT JOIN users u ON 1", READ, {"shop.items", "shop.users"}),
        ("UPDATE LOW_PRIORITY orders SET a = 1, b = 2", WRITE, {"shop.orders"}),
        ("INSERT IGNORE INTO orders (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2", WRITE, {"shop.orders"}),
        ("REPLACE orders VALUES (1)", WRITE, {"shop.orders"}),
        ("LOAD DATA INFILE 'x' INTO TABLE orders", WRITE, {"shop.orders"}),
        ("LOCK TABLES orders WRITE, items AS i READ LOCAL", CHANGE, {"shop.orders", "shop.items"}),
        ("ALTER ONLINE TABLE orders FORCE", CHANGE, {"shop.orders"}),
        ("DROP TABLE IF EXISTS orders, items", CHANGE, {"shop.orders", "shop.items"}),
        ("CREATE INDEX i ON orders (a)", CHANGE, {"shop.orders"}),
        ("TRUNCATE orders", CHANGE, {"shop.orders"}),
        ("FLUSH LOCAL TABLES orders", CHANGE, {"shop.orders"}),
        ("FLUSH TABLES", CHANGE, {}),
        ("CALL nightly()", None, {}),
    ],
)  # fmt: skip
def test_use_of_tables(text: str | None, access: Access | None, tables: set[str]) -> None:
    use = table_use(text, "shop")
    assert use.access is access
    assert set(use.tables) == set(tables)


@pytest.mark.parametrize(
    "text", ["INSERT INTO orders SELECT * FROM archive", "CREATE TABLE orders AS SELECT * FROM archive"]
)
def test_what_is_copied_from_is_read_alone(text: str) -> None:
    use = table_use(text, "shop")
    assert use.access_to("shop.archive") is READ
    assert use.access_to("shop.orders") is use.access


def test_a_name_without_a_schema_is_that_of_the_session_and_any_where_that_is_not_known() -> None:
    assert table_use("ALTER TABLE orders FORCE", "").access_to("shop.orders") is CHANGE
    assert table_use("ALTER TABLE orders FORCE", "other").access_to("shop.orders") is None
    assert table_use("ALTER TABLE Shop.Orders FORCE", "other").access_to("shop.orders") is CHANGE
    assert is_same("orders", "shop.orders")
    assert not is_same("shop.orders_old", "shop.orders")
