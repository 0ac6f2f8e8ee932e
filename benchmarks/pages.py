"""Writes what pages quote from the reports: every part between markers, or those of the reports that are named.

    python benchmarks/pages.py [REPORT...]

A part without its report stays as it is.
"""

import argparse

from page_tables import (
    advice_table,
    climbing_tables,
    drawn_tables,
    file_tables,
    mariadb_tables,
    operations_tables,
    picture_table,
    results_tables,
    rival_tables,
    simulator_tables,
    soak_table,
    suite_tables,
    tuner_tables,
)
from page_tables.part import Part

PARTS: tuple[Part, ...] = (
    *results_tables.PARTS,
    *picture_table.PARTS,
    *suite_tables.PARTS,
    *mariadb_tables.PARTS,
    *file_tables.PARTS,
    *drawn_tables.PARTS,
    *rival_tables.PARTS,
    *advice_table.PARTS,
    *climbing_tables.PARTS,
    *simulator_tables.PARTS,
    *soak_table.PARTS,
    *tuner_tables.PARTS,
    *operations_tables.PARTS,
)


def write(names: set[str]) -> None:
    """Writes the parts that are made of any of these reports, or all parts where none is named."""
    for part in PARTS:
        if not names or names & set(part.reports):
            said = "" if part.write() else ": no report, left as it is"
            print(f"{part.page}, {part.marker}{said}")


def main() -> None:
    """Writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", help="names of reports")
    write(set(parser.parse_args().reports))


if __name__ == "__main__":
    main()
