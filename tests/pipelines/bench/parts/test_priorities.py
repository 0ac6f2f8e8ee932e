"""Priorities by weight: the live mixes, their twins and Trub's own, small."""

import os

import pytest

from poolpilot.pipelines.bench.parts.priorities import FIFO, MIXES, ORIGINAL, WEIGHTS, disciplines, measure, weight_name
from poolpilot.pipelines.bench.parts.simulated_trial import simulated_window
from poolpilot.pipelines.bench.parts.source_mixes import (
    FIGURES,
    READ_ONLY_STATEMENTS,
    READ_WRITE_STATEMENTS,
    TOLD,
    WRITE_ONLY_STATEMENTS,
    Costs,
    Rows,
    distance,
    fitted_costs,
    rates_of,
)
from poolpilot.pipelines.bench.pool import CELLS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings

CPUS = tuple(os.sched_getaffinity(0))
LOOKUPS = MIXES["point_select + read_only"]
WRITERS = MIXES["read_only + write_only"]
COSTS = Costs(point_select_us=32.0, read_only_us=33.0, read_write_us=32.0, read_write_wait_us=4000.0)
PROCESSORS = 8


def test_every_mix_stands_under_every_discipline() -> None:
    cells = list(CELLS["priorities"](PoolBenchSettings()))
    assert [cell.name for cell in cells] == [" + ".join(classes) for classes in FIGURES.values()]
    for cell in cells:
        assert set(cell.contenders) == {FIFO, ORIGINAL, *map(weight_name, WEIGHTS)}


@pytest.mark.parametrize(("weight", "winner", "loser"), [(0.0, 0, 1), (1.0, 1, 0)])
def test_a_live_pool_serves_the_class_that_has_the_weight(weight: float, winner: int, loser: int) -> None:
    settings = PoolBenchSettings(
        mix_connections=16, mix_settle_s=0.2, mix_window_s=0.4, server_cpus=CPUS[:1], load_cpus=CPUS[-1:]
    )
    measures = measure(settings, LOOKUPS, disciplines(LOOKUPS)[weight_name(weight)])
    rates = [measures[f"{name}_throughput_per_s"] for name in LOOKUPS.class_names]
    assert rates[winner] > 2.0 * rates[loser]
    assert sum(rates) == pytest.approx(measures["throughput_per_s"])


def test_shares_are_the_weights_where_both_classes_always_wait() -> None:
    for weight in (0.2, 0.7):
        options = disciplines(LOOKUPS)[weight_name(weight)]
        window = simulated_window(LOOKUPS.closed_loop(64), options, 0.2, 1.0)
        assert window.classes["read_only"].throughput_per_s / window.throughput_per_s == pytest.approx(weight, abs=0.02)


def test_writers_who_queue_up_for_rows_get_more_done_where_few_are_let_in() -> None:
    def rates(name: str) -> tuple[float, float]:
        window = simulated_window(WRITERS.closed_loop(128), disciplines(WRITERS)[name], 0.5, 2.0)
        return window.classes["read_only"].throughput_per_s, window.throughput_per_s

    readers, both = rates(ORIGINAL)
    few_readers, few_both = rates(weight_name(0.1))
    assert few_readers > 1.1 * readers
    assert few_both > 1.1 * both


def test_a_write_only_transaction_costs_what_a_read_write_one_has_beyond_a_read_only_one() -> None:
    ends_us = 2 * COSTS.point_select_us
    whole_us = READ_ONLY_STATEMENTS * COSTS.read_only_us + WRITE_ONLY_STATEMENTS * COSTS.write_only_us - ends_us
    assert whole_us == pytest.approx(READ_WRITE_STATEMENTS * COSTS.read_write_us)
    waits_us = WRITE_ONLY_STATEMENTS * COSTS.write_only_wait_us
    assert waits_us == pytest.approx(READ_WRITE_STATEMENTS * COSTS.read_write_wait_us)


def test_the_weight_of_all_is_the_original_pool_where_one_class_stands_in_transactions() -> None:
    classes = COSTS.classes()
    original, all_of_it, none = (rates_of((8, weight), classes, PROCESSORS) for weight in (None, 1.0, 0.0))
    assert original.tolist() == pytest.approx(all_of_it.tolist(), rel=0.01)
    assert original[0] == none[1] == 0.0
    assert none[0] > 0.0


def test_numbers_of_the_source_are_read_off_rates_as_the_text_means_them() -> None:
    rates = {one.places.copy().pop(): None for one in TOLD}
    assert {figure for figure, _ in rates} == set(FIGURES)
    classes = COSTS.classes()
    told = [one for one in TOLD if one.figure == 8 and one.weight == 0.0]
    (one,) = told
    found = {place: rates_of(place, classes, PROCESSORS) for place in one.places}
    assert one.found(found) == pytest.approx(float(found[8, 0.0].sum() / found[8, None].sum()))
    assert distance(classes, PROCESSORS, told) < 0.01


def test_a_fit_comes_nearer() -> None:
    told = [one for one in TOLD if one.fitted]
    begin = distance(Costs(4 * 3.76, 4 * 3.86, 4 * 3.79, 3700.0).classes(), 4, told)
    _, nearest = fitted_costs(4, 5)
    assert nearest <= begin


def test_writers_hold_a_row_over_their_wait() -> None:
    steps = Rows(hold_us=2000.0, waiter_cost_us=5.0).write_only(COSTS).steps
    assert [step.op for step in steps] == ["cpu", "acquire", "wait", "release", "cpu"]
    assert steps[1].waiter_cost_us == 5.0
    assert steps[2].us == 2000.0
