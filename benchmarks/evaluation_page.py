"""Rewrites the measured parts of docs/results-evaluation.md: workload files, drawn ones, rivals, networks, advice."""

from pathlib import Path

from advice_by_processors import advice_table
from drawn_tables import drawn_table
from file_tables import files_section, two_runs_table
from pages import read_report, replaced
from rival_tables import live_section, network_section, simulated_section

REPORTS = Path("benchmarks/reports")
PAGE = Path("docs/results-evaluation.md")


def main() -> None:
    """Writes the tables of all reports."""
    simulated, policies, live, advice = (
        read_report(REPORTS / f"{name}.json")
        for name in ("simulated_rivals", "simulated_policies", "live_rivals", "advice_by_processors")
    )
    page = PAGE.read_text()
    for name, text in (
        ("files", files_section()),
        ("files-again", two_runs_table()),
        ("drawn", drawn_table()),
        ("rivals", simulated_section(simulated)),
        ("live-rivals", live_section(live)),
        ("networks", network_section(policies, live)),
        ("advice", advice_table(advice)),
    ):
        page = replaced(page, name, text)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
