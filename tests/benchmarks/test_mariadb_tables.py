"""What the tables of the results on MariaDB say of their reports."""

from page_tables.mariadb_tables import bound_section, cost_section, walks_section


def cells_of(table: str) -> list[dict[str, str]]:
    head, _, *rows = ([one.strip() for one in line.strip("|").split("|")] for line in table.splitlines() if line)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_gain_within_two_errors_of_the_bound_is_not_beyond_it() -> None:
    workloads = [
        {"gain": 0.3, "error": 0.05, "bound": 0.1},
        {"gain": 0.3, "error": 0.2, "bound": 0.1},
        {"gain": 0.3, "error": 0.2, "bound": 0.9},
        {"gain": 9.0, "error": 0.01},
    ]
    (row,) = cells_of(bound_section({"workloads": {"suite": workloads}}))
    assert row == {
        "records": "MariaDB suite",
        "workloads": "4",
        "exceeded": "1",
        "bound below 50 %": "2",
        "no bound": "1",
    }


def test_walks_are_a_row_a_load() -> None:
    of_load = {"share": 0.2, "draws": 80, "left_alone": 78, "walks": 160, "most_steps": 1, "come_back": 0}
    (row,) = cells_of(walks_section({"rows": [of_load]}))
    assert [row[name] for name in ("default left alone", "steps at most", "came back")] == ["78 of 80", "1", "0"]


def test_cost_has_the_interval_of_the_ratio() -> None:
    shares = {"size_2": 0.0006, "size_128": 0.0008}
    report = {"share_of_a_core_a_look_a_second": shares, "ratio": 1.0, "low": 0.98, "high": 1.02, "pairs": 200}
    assert [row["value"] for row in cells_of(cost_section(report))] == ["0.06 %", "0.08 %", "1.000 (0.980 .. 1.020)"]
