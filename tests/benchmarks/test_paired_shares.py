"""What one method has more than another, workload by workload."""

from typing import Any

from tests.benchmarks.test_file_tables import report, run

from page_tables.paired_shares import ahead, capped_shares


def judged(*families: str) -> dict[str, Any]:
    """A report of four workloads, of the families named."""
    shares = zip("abcd", (0.9, 0.8, 1.3, 0.5), (0.4, 0.4, 0.4, 0.4), strict=True)
    runs = {
        name: [run("cold", [4, 3, 10], one, 0.0), run("default", [2, 3, 500], other, 0.0)]
        for name, one, other in shares
    }
    made = report(regret=0.1, **runs) | {"censored": {"reads": "does not repeat"}}
    for result, family in zip(made["results"][1:], families, strict=True):
        result["family"] = family
    return made


def test_none_counts_above_its_reference_and_censored_workloads_not_at_all() -> None:
    assert [each["cold"] for each in capped_shares(judged("a", "b", "c", "d"))] == [0.9, 0.8, 1.0, 0.5]


def test_intervals_are_by_family() -> None:
    apart = ahead([judged("a", "b", "c", "d")], "cold", "default")
    assert apart.startswith("+0.40 (")
    assert ahead([judged("a", "a", "c", "d")], "cold", "default") != apart
    assert ahead([judged("a", "a", "a", "d")], "cold", "default") == "+0.40 (-)"


def test_workloads_of_several_reports_count_together() -> None:
    assert ahead([judged("a", "a", "a", "a"), judged("b", "b", "c", "c")], "default", "cold").startswith("-0.40 (-")
