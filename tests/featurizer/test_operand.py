"""Operands: missing values and order of computation."""

import pytest

from poolpilot.featurizer.operand import Amount, Measure, Operand, Product, Sum, needed

LEFT, RIGHT = Measure("left"), Measure("right")


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        (LEFT, 6.0),
        (Product(LEFT, RIGHT), 24.0),
        (Sum((LEFT, RIGHT)), 10.0),
        (Sum((LEFT,), (RIGHT,)), 2.0),
        (Amount("left", "right"), 24.0),
    ],
)
def test_values(operand: Operand, expected: float) -> None:
    assert operand.evaluate({"left": 6.0, "right": 4.0}) == expected


@pytest.mark.parametrize("operand", [Product(LEFT, RIGHT), Sum((LEFT, RIGHT)), Sum((LEFT,), (RIGHT,))])
@pytest.mark.parametrize("missing", ["left", "right"])
def test_missing_when_any_part_is_missing(operand: Operand, missing: str) -> None:
    assert operand.evaluate({"left": 6.0, "right": 4.0, missing: None}) is None


def test_an_amount_of_nothing_is_zero_though_its_mean_is_unknown() -> None:
    amount = Amount("left", "right")
    assert amount.evaluate({"left": 0.0, "right": None}) == 0.0
    assert amount.evaluate({"left": 2.0, "right": None}) is None
    assert amount.evaluate({"left": None, "right": 3.0}) is None


def test_sql_names_the_columns_in_the_same_order() -> None:
    assert Sum((LEFT,), (Product(LEFT, RIGHT),)).sql() == '("left" - ("left" * "right"))'


def test_needed_measures_are_those_of_all_parts() -> None:
    assert needed(Sum((LEFT,), (Amount("count", "mean"),)), None) == {"left", "count", "mean"}
