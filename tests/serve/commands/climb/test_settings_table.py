"""The table of settings in the documentation is the settings model's, which is the code's."""

from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings
from poolpilot.serve.commands.climb.settings_table import setting_rows

PAGE = Path(__file__).parents[4] / "docs" / "climbing.md"
ROWS = setting_rows(ClimbSettings())


def documented() -> dict[str, list[str]]:
    """Cells of each row of the table, by the setting's name."""
    table = PAGE.read_text().split("<!-- settings: begin -->")[1].split("<!-- settings: end -->")[0]
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in table.strip().splitlines()[2:]]
    return {row[0].strip("`"): row[1:] for row in rows}


def test_every_setting_is_documented_and_no_other() -> None:
    assert list(documented()) == list(NATIVE_NAMES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_row_says_what_the_model_says(row: dict[str, Any]) -> None:
    alias, default, unit, allowed, effect = documented()[row["name"]]
    switch = row["unit"] == "switch"
    assert alias.strip("`") == ("" if row["alias"] == row["name"] else row["alias"])
    assert default == (("on" if row["default"] else "off") if switch else f"{row['default']:g}")
    assert (unit, effect) == (row["unit"], row["effect"])
    assert allowed.startswith("on" if switch else ("from " if row["high"] is None else "") + f"{row['low']:g}")
