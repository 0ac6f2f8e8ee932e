"""Every setting of the climber is in the table; those that the documentation names have the defaults it says."""

import re
from pathlib import Path

from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings
from poolpilot.serve.commands.climb.settings_table import setting_rows

PAGE = Path(__file__).parents[4] / "docs" / "climbing.md"
ROWS = {row["name"]: row for row in setting_rows(ClimbSettings())}


def test_every_setting_has_a_row() -> None:
    assert list(ROWS) == list(NATIVE_NAMES)


def test_defaults_on_the_page_are_those_of_the_model() -> None:
    table = PAGE.read_text(encoding="utf-8").split("| setting | default |")[1].split("\n\n")[0]
    told = re.findall(r"^\| `(\w+)` \| ([\d.]+)", table, re.MULTILINE)
    assert len(told) >= 4
    assert [(name, f"{ROWS[name]['default']:g}") for name, _ in told] == told


def test_settings_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`(hcm_\w+|scan_\w+|min_accepted_throughput)`", PAGE.read_text(encoding="utf-8")))
    assert named <= {*ROWS, *(row["alias"] for row in ROWS.values())}
