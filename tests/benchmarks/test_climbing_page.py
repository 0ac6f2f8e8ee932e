"""The page of the climbing benchmark reads reports with intervals and without."""

from typing import Any

import pytest

from climbing_page import losing_section


def losing(low: float | None, high: float | None) -> dict[str, Any]:
    row = {"cell": "arch of 8, 5 %, from one", "baseline": "dotnet", "difference": 0.1719, "low": low, "high": high}
    return {"losing": [row]}


@pytest.mark.parametrize(
    ("low", "high", "shown"), [(0.15, 0.19, "17.19 (15.00 .. 19.00)"), (None, None, "17.19 (one repeat)")]
)
def test_interval_stands_where_there_is_one(low: float | None, high: float | None, shown: str) -> None:
    assert f"| {shown} |" in losing_section(losing(low, high))
