"""The settings that the page of climbing names are there, and have the defaults it says."""

import re
from pathlib import Path

from poolpilot.env.climbing.spectral import NATIVE_NAMES, ClimbSettings

PAGE = (Path(__file__).parents[2] / "docs/climbing.md").read_text(encoding="utf-8")


def test_defaults_on_the_page_are_those_of_the_model() -> None:
    table = PAGE.split("| setting | default |")[1].split("\n\n")[0]
    told = re.findall(r"^\| `(\w+)` \| ([\d.]+)", table, re.MULTILINE)
    assert len(told) >= 4
    assert [(name, f"{ClimbSettings.model_fields[name].default:g}") for name, _ in told] == told


def test_settings_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`(hcm_\w+|scan_\w+|min_accepted_throughput)`", PAGE))
    assert named <= {*NATIVE_NAMES, *NATIVE_NAMES.values()}
