"""What one method has more than another of the best goodput, workload by workload, from reports of workload files."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from poolpilot.pipelines.evaluate.statistics.regret_statistics import interval_by_family

RESAMPLES, SEED = 10_000, 0

Report = Mapping[str, Any]

Shares = Mapping[str, float]
"""Goodput over the reference's of every method under one workload."""


def judged(report: Report) -> list[Mapping[str, Any]]:
    """The workloads that are not censored."""
    return [result for result in report["results"] if result["workload"] not in report["censored"]]


def goodput_shares(report: Report) -> list[Shares]:
    """Goodput over the reference's of every method, for each workload that is not censored."""
    return [{run["method"]: run["goodput_share"] for run in result["runs"]} for result in judged(report)]


def capped_shares(report: Report) -> list[Shares]:
    """The same where none counts above the reference."""
    return [{name: min(share, 1.0) for name, share in each.items()} for each in goodput_shares(report)]


def families_of(report: Report) -> list[str]:
    """Families of the workloads that are not censored; a report from before tells none but the workload itself."""
    return [result.get("family", result["workload"]) for result in judged(report)]


def ahead(reports: Sequence[Report], one: str, other: str) -> str:
    """How much more one method has than another in the mean, with its interval by families, over all workloads.

    None counts above the reference.
    """
    found = [each for report in reports for each in capped_shares(report)]
    families = [family for report in reports for family in families_of(report)]
    differences = [each[one] - each[other] for each in found]
    low, high = interval_by_family(zip(families, differences, strict=True), RESAMPLES, SEED)
    return f"{fmean(differences):+.2f} ({'-' if low is None or high is None else f'{low:+.2f}..{high:+.2f}'})"
