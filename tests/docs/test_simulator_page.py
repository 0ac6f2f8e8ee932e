"""docs/simulator.md lists the families that are simulated today."""

import re
from pathlib import Path

from poolpilot.env.workloads.light_families import LIGHT_FAMILIES
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES

PAGE = (Path(__file__).parents[2] / "docs/simulator.md").read_text(encoding="utf-8")


def test_families_are_those_of_today() -> None:
    listed = re.findall(r"^\| `((?:sim|twin)_[\w*]+)` \|", PAGE, re.MULTILINE)
    light = {"_".join(name.split("_")[:2]) + "_*" for name in LIGHT_FAMILIES}
    assert {*listed} == {"twin_*" if name.startswith("twin_") else name for name in SIMULATED_FAMILIES} | light
