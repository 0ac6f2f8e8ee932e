"""Intervals are clustered by family, and differences are paired by workload."""

from dataclasses import dataclass
from typing import Any

import pytest

from rivals.rival_statistics import Row, mean_row, rows_of


@dataclass(frozen=True)
class Case:
    name: str
    family: str
    kind: str = "native"
    composition: str = ""
    held_out_cpus: int | None = None


def row(method: str, regret: float) -> Row:
    return {"method": method, "regret": regret, "unsafe": None, "chosen": (4, 3, 500)}


def found(families: int, gap: float) -> list[tuple[Case, list[Row]]]:
    """Workloads of so many families on which the policy loses less than the others by a gap."""
    return [
        (
            Case(f"w{place}", f"f{place}"),
            [
                row("default", 0.5),
                row("constant_best", 0.5),
                row("portfolio_1", 0.1 * place + gap),
                row("ppo_policy_1", 0.1 * place),
                row("all_action_probing_1", 0.1 * place + 2.0 * gap),
            ],
        )
        for place in range(families)
    ]


def by_method(families: int, gap: float) -> dict[str, dict[str, Any]]:
    rivals = {"ppo_policy": "all_action_probing"}
    return {one["method"]: one for one in rows_of(found(families, gap), ["native"], rivals)}


def test_no_interval_from_fewer_than_three_families() -> None:
    assert by_method(2, 0.1)["ppo_policy_1"]["regret_low"] is None
    assert by_method(3, 0.1)["ppo_policy_1"]["regret_low"] is not None


def test_difference_to_the_portfolio_is_paired() -> None:
    policy = by_method(5, 0.1)["ppo_policy_1"]
    assert policy["against_high"] == pytest.approx(-0.1)
    assert policy["regret_high"] - policy["regret_low"] > 0.1


def test_policy_is_compared_with_the_probing_network_too() -> None:
    rows = by_method(5, 0.1)
    assert rows["ppo_policy_1"]["rival"] == "all_action_probing_1"
    assert rows["ppo_policy_1"]["rival_high"] == pytest.approx(-0.2)
    assert "rival" not in rows["portfolio_1"]


def test_draws_of_a_search_count_together_in_the_mean() -> None:
    drawn = [row("random_search_1", regret) for regret in (0.0, 0.0, 0.9)]
    by_workload = [
        (
            Case(f"w{place}", f"f{place}"),
            [row("default", 0.1), row("constant_best", 0.5), row("portfolio_1", 0.1), mean_row(drawn)],
        )
        for place in range(3)
    ]
    found = {one["method"]: one for one in rows_of(by_workload, ["native"], {})}["random_search_1"]
    assert found["workloads"] == 3
    assert found["regret_mean"] == pytest.approx(0.3)
    assert found["against_high"] == pytest.approx(0.2)
