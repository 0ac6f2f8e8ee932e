"""How well the simulator does beside the live pool, for docs/results-simulator.md and docs/simulator.md."""

from collections.abc import Mapping
from typing import Any

from page_tables.part import Part, table

AS_SHIPPED = {"as shipped": "judged_before", "rebuilt from one window": "rebuilt"}
"""What a user simulates with, in the words of the page."""

LEVEL = {
    "goodput off, median": "error_median",
    "goodput off, 90th percentile": "error_p90",
    "pairs of configurations in the right order": "pairs_alike",
}
CHOICE = {"lost by its choice, median": "regret_median", "lost by its choice, 90th percentile": "regret_p90"}


def calibration_section(report: Mapping[str, Any]) -> str:
    """How well the calibrated simulator does on live workloads that it was not fitted to."""
    return calibration_table(report, {"fitted": "judged", **AS_SHIPPED}, LEVEL | CHOICE)


def level_section(report: Mapping[str, Any]) -> str:
    """The same as far as a user needs it before the first simulation."""
    return calibration_table(report, AS_SHIPPED, LEVEL)


def calibration_table(report: Mapping[str, Any], columns: Mapping[str, str], measures: Mapping[str, str]) -> str:
    """A line for each measure."""
    rows = [[words, *(f"{report[one][key]:.1%}" for one in columns.values())] for words, key in measures.items()]
    return table(["", *columns], rows)


PARTS = (
    Part("docs/results-simulator.md", "calibration", ("calibration",), calibration_section),
    Part("docs/simulator.md", "calibration-level", ("calibration",), level_section),
)
