"""The tables of the demonstrations count each workload once and each method on all of them."""

from typing import Any

from page_tables.demo_table import demo_tables, summary_table


def row(regret: float, *, told_apart: bool = True, **way: Any) -> dict[str, Any]:
    return {"regret": regret, "told_apart": told_apart, **way}


def report(*runs: tuple[float, float | None]) -> dict[str, Any]:
    return {"workloads": [workload(*run) for run in runs for _ in range(2)]}


def workload(default: float, arrived_s: float | None) -> dict[str, Any]:
    return {
        "name": "page_faults-1000001-2",
        "default": row(default),
        "sbs": row(0.1),
        "cold": row(0.0, told_apart=False, time_to_95_s=None),
        "warm_start": row(0.02, told_apart=False, time_to_95_s=arrived_s),
        "best": row(0.0, told_apart=False),
    }


def test_a_line_each_over_all_workloads() -> None:
    default, static, cold, warm = summary_table(report((0.7, 0.4), (0.9, 1.0))).splitlines()[2:]
    assert default == "| default | 80.0 % | 90.0 % | 4 of 4 | - |"
    assert static == "| static best | 10.0 % | 10.0 % | 4 of 4 | - |"
    assert cold == "| cold climb | 0.0 % | 0.0 % | 0 of 4 | not in time |"
    assert warm == "| warm start | 2.0 % | 2.0 % | 0 of 4 | 0.7 |"


def test_a_line_for_each_family() -> None:
    assert demo_tables(report((0.7, 0.4))).splitlines()[-1] == "| `page_faults` | 2 | 70.0 % | 10.0 % | 0.0 % | 2.0 % |"
