"""What is shown of evaluations of drawn compositions."""

from typing import Any

from tests.benchmarks.test_file_tables import report, run

from drawn_tables import ahead_line, capped_line, parts_lines


def test_no_workload_counts_above_its_reference_where_goodputs_are_capped() -> None:
    found = report(
        run("reference", [8, 3, 10], 1.0, 0.0),
        run("cold", [4, 3, 10], 0.6, 0.0),
        writes=[run("cold", [4, 3, 10], 3.0, 0.0)],
        scans=[run("cold", [4, 3, 10], 0.0, 0.0)],
    ) | {"censored": {"scans": "does not repeat"}}
    assert capped_line(found) == "* where none counts above the reference: `cold` 0.80\n"


def judged(ours: float, constants: float) -> list[dict[str, Any]]:
    """What a workload came to."""
    shares = {"reference": 1.0, "warm_start": ours, "portfolio_3": constants}
    return [run(name, [2, 3, 500], share, 0.0) for name, share in shares.items()]


def test_parts_are_where_three_constants_are_good_and_where_the_target_can_be_met() -> None:
    found = report(*judged(0.9, 1.2), writes=judged(0.5, 0.6), scans=judged(0.1, 1.0))
    for result, in_time in zip(found["results"], (0.05, 0.1, 0.9), strict=True):
        result["in_time"] = in_time  # of the reference
    found |= {"censored": {"scans": "does not repeat"}, "methods": {"warm_start": {}, "portfolio_3": {}}}
    assert parts_lines(found).splitlines() == [
        "    * where `portfolio_3` has 0.95 of it or more, 1 of 2: `warm_start` 0.90 (least 0.90), `portfolio_3` 1.00 "
        "(least 1.00)",
        "    * where the reference has 10 % of its requests in time or more, 1 of 2: `warm_start` 0.50 (least 0.50), "
        "`portfolio_3` 0.60 (least 0.60)",
    ]


def test_reports_from_before_do_not_tell_which_targets_can_be_met() -> None:
    found = report(*judged(0.9, 0.9)) | {"censored": {}, "methods": {"warm_start": {}}}
    assert parts_lines(found) == ""


def test_the_lead_of_the_warm_start_is_paired_and_over_all_reports() -> None:
    first = report(*judged(1.5, 0.5), writes=judged(0.9, 0.5)) | {"censored": {}}
    second = report(*judged(0.8, 0.2)) | {"censored": {}}
    assert ahead_line([first, second], "of two seeds") == (
        "* `warm_start` has more on the 3 workloads of two seeds, pair by pair: than `portfolio_3` +0.50 (-)\n"
    )
