"""The suite: its families with their directions, and three draws of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from poolpilot.errors import SettingError
from poolpilot.lab.sealed_sql_families import SEALED
from poolpilot.lab.sql_family import SqlFamily
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import draw_workload
from suite.expectation import Expectation
from suite.expectations import EXPECTATIONS
from suite.suite_families import OPEN

SUITE_SEED, DRAWS = 18, 3


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """A workload of the suite.

    Attributes:
        workload: The workload.
        expectation: What is expected of it.
        sealed: Whether its family is sealed.
    """

    workload: SqlWorkload
    expectation: Expectation
    sealed: bool


SUITE: Mapping[str, SqlFamily] = {
    name: next(family for family in (*OPEN, *SEALED) if family.name == name) for name in EXPECTATIONS
}
"""Every family of the suite, in the order of the page."""


def suite_cells(seed: int = SUITE_SEED, draws: int = DRAWS, cpus: int = 2) -> list[SuiteCell]:
    """The draws of every family, dealt out in turns, so that a run cut short has some of all.

    Args:
        seed: Seed of the draws; the suite's own by default.
        draws: Draws of each family.
        cpus: Processors the servers may use.
    """
    sealed = {family.name for family in SEALED}
    return [
        SuiteCell(draw_workload(family, seed, number, cpus), EXPECTATIONS[name], name in sealed)
        for number in range(draws)
        for name, family in SUITE.items()
    ]


def named_cells(names: list[str], cells: list[SuiteCell]) -> list[SuiteCell]:
    """Those of the cells whose family or workload is named; all where nothing is.

    Raises:
        SettingError: A name is neither.
    """
    for name in names:
        if not any(name in (cell.workload.name, cell.workload.family) for cell in cells):
            raise SettingError(f"there is no workload {name!r} in the suite; its families are {', '.join(SUITE)}")
    return [cell for cell in cells if not names or {cell.workload.name, cell.workload.family} & set(names)]
