"""Order of service beside oracles: the same, and an oracle of another discipline would be found out."""

import pytest

from poolpilot.pipelines.bench.disciplines import orders
from poolpilot.pipelines.bench.disciplines.orders import (
    FIGURE_3,
    ORACLES,
    alike,
    figure_3,
    figure_3_orders,
    order_rows,
    taken,
)


@pytest.mark.parametrize("discipline", ORACLES)
def test_random_requests_come_out_as_the_oracle_says(discipline: str) -> None:
    assert alike(discipline, 100) == 100


@pytest.mark.parametrize("discipline", ORACLES)
def test_every_request_comes_out_once(discipline: str) -> None:
    assert sorted(ours for ours, _ in taken(discipline, 5)) == list(range(orders.REQUESTS))


@pytest.mark.parametrize("discipline", ORACLES)
def test_the_oracle_of_another_discipline_is_found_out(discipline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [oracle for name, oracle in ORACLES.items() if name != discipline]
    for other in others:
        monkeypatch.setattr(orders, "ORACLES", {discipline: other})
        assert alike(discipline, 20) == 0


def test_the_sources_third_figure_holds_in_whatever_order_the_others_come() -> None:
    arrivals = list(figure_3_orders())
    assert len(arrivals) == len(set(arrivals)) == 90
    assert {figure_3(one) for one in arrivals} == {FIGURE_3}


def test_rows_tell_how_many_were_alike() -> None:
    assert [(row["discipline"], row["sequences"], row["alike"]) for row in order_rows(3)] == [
        ("dynamic", 3, 3),
        ("israeli", 3, 3),
        ("alternating", 3, 3),
        ("alternating", 90, 90),
    ]
