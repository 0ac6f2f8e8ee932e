"""`poolpilot records` and `records --sql` as a user meets them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from poolpilot.errors import SettingError, StoreError
from poolpilot.serve.commands.learn.records_sql_command import COLUMNS_SHOWN
from poolpilot.serve.commands.main import build

SHIPPED = Path(__file__).parents[4] / "pipelines" / "mariadb"


def run(*arguments: object) -> Result:
    given = ["records", *map(str, arguments)]
    return CliRunner().invoke(build(), given, env={"COLUMNS": "250"}, catch_exceptions=False)


def test_show_has_a_table_for_each_store_and_a_file_for_programs(tmp_path: Path) -> None:
    result = run(SHIPPED, SHIPPED.parent / "native", "--json", tmp_path / "show.json")
    assert result.exit_code == 0
    assert result.output.count("Records in ") == 2
    assert "on the server mariadb of the machine" in result.output
    mariadb, native = json.loads((tmp_path / "show.json").read_text(encoding="utf-8"))["stores"]
    assert (mariadb["directory"], mariadb["servers"]) == (str(SHIPPED), ["mariadb"])
    assert (sum(one["workloads"] for one in native["families"]), sum(native["kinds"].values())) == (87, 4176)
    for one in mariadb["families"]:
        assert one["family"] in result.output


def test_sql_prints_a_table_and_writes_a_file_for_programs(tmp_path: Path) -> None:
    query = "SELECT family, max(goodput_per_s) AS best, [1, 2] AS listed FROM outcomes GROUP BY family ORDER BY ALL"
    result = run(SHIPPED, "--sql", query, "--limit", 2, "--json", tmp_path / "answer.json")
    assert result.exit_code == 0
    assert "There are more than 2 rows: --limit shows more." in result.output
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert (answer["columns"], len(answer["rows"]), answer["more"]) == (["family", "best", "listed"], 2, True)
    (family, best, listed) = answer["rows"][0]
    assert family in result.output
    assert f"{best:.6g}" in result.output
    assert listed == [1, 2]


def test_values_that_json_does_not_know_become_text_or_nothing(tmp_path: Path) -> None:
    query = "SELECT DATE '2026-11-26' AS day, {'of': 1.5::DECIMAL(3, 1)} AS price, 'nan'::DOUBLE AS none, NULL AS empty"
    assert run(SHIPPED, "--sql", query, "--json", tmp_path / "answer.json").exit_code == 0
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert answer["rows"] == [["2026-11-26", {"of": "1.5"}, None, None]]


def test_infinity_becomes_text_and_is_not_taken_for_null(tmp_path: Path) -> None:
    query = "SELECT 'inf'::DOUBLE AS most, '-inf'::DOUBLE AS least, ['inf'::DOUBLE, NULL] AS listed"
    assert run(SHIPPED, "--sql", query, "--json", tmp_path / "answer.json").exit_code == 0
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert answer["rows"] == [["inf", "-inf", ["inf", None]]]


def test_a_wide_answer_shows_its_first_columns_and_says_so(tmp_path: Path) -> None:
    result = run(SHIPPED, "--sql", "FROM records", "--limit", 1, "--json", tmp_path / "answer.json")
    columns = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["columns"]
    assert f"{len(columns) - COLUMNS_SHOWN} more columns: name those that you want" in result.output


def test_brackets_and_colons_in_names_and_values_are_printed_as_they_are() -> None:
    output = run(SHIPPED, "--sql", """SELECT '[bold] :fire:' AS "[red]" """).output
    assert "[bold] :fire:" in output
    assert "[red]" in output


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no workloads"):
        run(tmp_path)
    with pytest.raises(StoreError, match="holds no workloads"):
        run(tmp_path, "--sql", "SELECT 1")
    with pytest.raises(StoreError, match="ask it one SELECT; this is COPY"):
        run(SHIPPED, "--sql", "COPY workloads TO 'copy.csv'")
    with pytest.raises(SettingError, match="setting 'limit'"):
        run(SHIPPED, "--sql", "SELECT 1", "--limit", 0)
    for wrong in ((), ("--sql", "SELECT 1"), (SHIPPED, "--sql"), (SHIPPED, SHIPPED, "--sql", "SELECT 1")):
        assert run(*wrong).exit_code == 2
    assert run(SHIPPED, "--check", "--sql", "SELECT 1").exit_code == 2
