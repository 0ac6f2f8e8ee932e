"""What is shown of evaluations of drawn compositions."""

from typing import Any

from tests.benchmarks.test_file_tables import report, run

from page_tables.drawn_tables import SHOWN, seed_cells


def judged(ours: float, constants: float) -> list[dict[str, Any]]:
    """What a workload came to."""
    shares = {"reference": 1.0, "warm_start": ours, "portfolio_3": constants, "default": 0.5}
    return [run(name, [2, 3, 500], share, 0.0) for name, share in shares.items()]


def test_no_workload_counts_above_its_reference_and_a_method_that_was_not_measured_has_a_dash() -> None:
    found = report(*judged(0.9, 1.2), writes=judged(3.0, 0.6), scans=judged(0.1, 1.0))
    cells = seed_cells("1, drawn", [found | {"censored": {"scans": "does not repeat"}}])
    assert cells[:2] == ["1, drawn", "2"]
    assert dict(zip(SHOWN, cells[2:], strict=False)) == {
        "warm_start": "0.95",
        "warm_network": "-",
        "latent_bandit_3": "-",
        "portfolio_3": "0.80",
        "random_search": "-",
        "default": "0.50",
    }
    assert cells[-4:] == ["1", "+0.15 (-)", "1", "0.90"]


def test_the_lead_of_the_warm_start_is_paired_and_over_all_reports() -> None:
    first = report(*judged(1.5, 0.5), writes=judged(0.9, 0.5)) | {"censored": {}}
    second = report(*judged(0.8, 0.2)) | {"censored": {}}
    assert seed_cells("both", [first, second])[-4:] == ["1", "+0.50 (-)", "0", "-"]
