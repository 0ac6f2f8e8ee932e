"""The table of faults: each is counted with what fails, and none is of no kind."""

import pytest

from page_tables.operations_tables import FAULTS_OF, OTHER, faults, kind_of
from page_tables.part import read_report


def test_every_fault_of_the_report_is_of_a_kind() -> None:
    kinds = {kind_of(row["fault"]) for row in read_report("faults")["faults"]}
    assert kinds == {*FAULTS_OF}


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("a service that is broken changes nothing (slow)", "a service is slow, down or wrong"),
        ("a keeper that is killed is followed by another", "the keeper is killed"),
        ("something new", OTHER),
    ],
)
def test_fault_is_known_by_how_its_name_begins(fault: str, kind: str) -> None:
    assert kind_of(fault) == kind


def test_one_that_did_not_hold_is_seen_in_the_sum() -> None:
    rows = [{"fault": f"a clock {number}", "planted": 20, "held": held} for number, held in enumerate((20, 19))]
    assert "| a disk is full, a clock jumps | 2 | 40 | 39 |" in faults({"faults": rows})
