"""Writes the families of the embedded pool between the markers of docs/data.md.

Usage: python docs/family_table.py
"""

from pathlib import Path

from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.family import Family

PAGE = Path(__file__).with_name("data.md")
BEGIN, END = "<!-- families: begin -->\n", "<!-- families: end -->\n"
DRAWS = 40
FEW = 3
"""So many compositions of a family are named."""


def table() -> str:
    """One row for each family, in the order of the splits."""
    rows = [
        f"| `{family.name}` | {family.split} | {compositions(family)} |"
        for split in ("train", "validation", "test")
        for family in FAMILIES.values()
        if family.split == split
    ]
    return "\n".join(["| family | split | composition |", "|---|---|---|", *rows]) + "\n"


def compositions(family: Family) -> str:
    """What a family is composed of, if it is not drawn at random."""
    drawn = sorted({composition(draw_workload(family, 0, number).classes) for number in range(DRAWS)})
    if len(drawn) > FEW:
        return "drawn at random"
    return ", ".join(f"`{text}`".replace("|", r"\|") for text in drawn)


def page(text: str) -> str:
    """The page with the families of today."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
