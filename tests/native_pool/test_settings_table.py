"""The table of settings in the documentation is the code's."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from poolpilot.native_pool import SpectralSettings

if TYPE_CHECKING:
    from poolpilot.native_pool._core import SettingRow

PAGE = Path(__file__).parents[2] / "docs" / "climbing.md"
ROWS = SpectralSettings.fields()


def documented() -> dict[str, list[str]]:
    """Cells of each row of the table, by the setting's name."""
    table = PAGE.read_text().split("<!-- settings: begin -->")[1].split("<!-- settings: end -->")[0]
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in table.strip().splitlines()[2:]]
    return {row[0].strip("`"): row[1:] for row in rows}


def test_every_setting_is_documented_and_no_other() -> None:
    assert list(documented()) == [row["name"] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_row_says_what_the_code_says(row: "SettingRow") -> None:
    default, unit, allowed, effect = documented()[row["name"]]
    switch = row["unit"] == "switch"
    assert default == (("on" if row["default"] else "off") if switch else f"{row['default']:g}")
    assert (unit, effect) == (row["unit"], row["effect"])
    assert allowed.startswith("on" if switch else f"{row['low']:g} ..")
