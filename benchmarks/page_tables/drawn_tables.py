"""The table of evaluations of drawn compositions, a report for each seed."""

from collections.abc import Sequence
from statistics import fmean

from page_tables.file_tables import CONSTANTS, OURS
from page_tables.paired_shares import Report, Shares, ahead, capped_shares
from page_tables.part import Part, table

HOLDS = 0.95
"""Share of the reference's goodput from which on a choice counts as good."""

SHOWN = (OURS, "warm_network", "latent_bandit_3", CONSTANTS, "random_search", "default")

SEEDS = {
    "drawn": "314, nothing chosen by it",
    "drawn_500": "500, nothing chosen by it",
    "drawn_271": "271, a rule of the climb chosen by it",
    "drawn_99": "99, settings tried on it",
    "drawn_live": "777, live, nothing chosen by it",
}
"""Reports, in the words of the page."""

CLEAN = ("drawn", "drawn_500")
"""Those of simulated machines that nothing was chosen by."""


def drawn_table(*each: Report) -> str:
    """A line for each seed, and one for those that nothing was chosen by."""
    reports = dict(zip(SEEDS, each, strict=True))
    lines = [seed_cells(SEEDS[name], [report]) for name, report in reports.items()]
    lines.append(seed_cells("314 and 500", [reports[name] for name in CLEAN]))
    holds = f"has {HOLDS:g} or more"
    heads = ("seed", "workloads", *(f"`{name}`" for name in SHOWN), f"`{OURS}` {holds}", f"`{OURS}` less `{CONSTANTS}`")
    return table((*heads, f"where `{CONSTANTS}` {holds}", f"`{OURS}` there"), lines)


def seed_cells(title: str, reports: Sequence[Report]) -> list[str]:
    """Mean goodput over the reference's, where none counts above it; where each is good; and the lead."""
    shares = [each for report in reports for each in capped_shares(report)]
    good = [each for each in shares if each[CONSTANTS] >= HOLDS]
    means = [mean_of(shares, name) for name in SHOWN]
    holding = str(sum(each[OURS] >= HOLDS for each in shares))
    lead = ahead(reports, OURS, CONSTANTS)
    return [title, str(len(shares)), *means, holding, lead, str(len(good)), mean_of(good, OURS)]


def mean_of(shares: Sequence[Shares], name: str) -> str:
    """The mean of a method; a dash where it was not measured everywhere."""
    return f"{fmean(each[name] for each in shares):.2f}" if shares and all(name in each for each in shares) else "-"


REPORTS = tuple(f"evaluation_files/{name}" for name in SEEDS)
PARTS = (Part("docs/results-evaluation.md", "drawn", REPORTS, drawn_table),)
