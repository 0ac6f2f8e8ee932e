"""The tables of the tuner: a line for each method of the days, unsafe windows of simulated and live pools in one."""

from typing import Any

from page_tables.tuner_tables import days_table, pays_table, unsafe_table

DAY = {"completed": 0.0, "completed_error": 0.21, "worst_completed": 0.0, "regret": 0.08, "unsafe": 1.0, "slow": 2.0}
DAY |= {"bins": 100.0, "changes": 7.0}


def unsafe(predictor: str) -> dict[str, Any]:
    counts = {"guarded_unsafe": 1, "guarded_changed": 1000, "unguarded_unsafe": 50, "unguarded_changed": 100}
    longest = {"guarded_in_a_row": 1, "unguarded_in_a_row": 9}
    return {**counts, **longest, "avoided": 0.98, "avoided_low": 0.9, "predictor": predictor}


def test_days_have_a_row_for_each_method_that_lived_through_them() -> None:
    _, _, tuner, constant = days_table({"methods": {"constant": DAY, "default": DAY, "tuner": DAY}}).splitlines()
    assert tuner == "| tuner | x1.00 (21 %) | x1.00 | 8 % | 1.0 % | 2.0 % | 7 |"
    assert constant.startswith("| best constant of the known curves | x1.00")


def test_live_pool_stands_below_the_simulated_ones() -> None:
    *_, simulated, live = unsafe_table([unsafe("at random")], unsafe("shipped")).splitlines()
    assert simulated == "| simulated | at random | 1 of 1,000 | 50 of 100 | 98.0 % (90.0 %) | 1, 9 |"
    assert live.startswith("| embedded, live | as shipped |")


def test_mean_of_few_workloads_has_no_interval() -> None:
    row = {
        "family": "orders",
        "tuned": [4, 3, 10],
        "tuned_over_default": [0.0, 0.01],
        "tuned_over_constant": [0.0, 0.02],
    }
    mean = {"mean": 0.0, "interval": None}
    text = pays_table({"rows": [row], "summary": {"tuned_over_default": mean, "tuned_over_constant": mean}})
    assert "| `orders` | (4, 3, 10) | x1.00 (1 %) | x1.00 (2 %) |" in text
    assert text.splitlines()[-1] == "| mean (95 %) |  | x1.00 | x1.00 |"
