"""A load that repeats itself is told from a steady noisy one, under one tuple and under a climb's many."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from poolpilot.env.measurement.load_period import load_period_s
from poolpilot.featurizer.pool_tuple import PoolTuple

WINDOW_S = 0.5
HELD = PoolTuple(8, 3, 500)
SIZES = (4, 8)
"""Sizes of a climb's wave of four windows; the larger gives twice as much."""


@dataclass(frozen=True)
class Seen:
    """A window as far as it is read."""

    throughput_per_s: float
    pool_tuple: PoolTuple = HELD
    duration_s: float = WINDOW_S


def windows(rates: NDArray[np.float64], *, waves: bool = False) -> list[Seen]:
    sizes = [SIZES[index // 2 % 2] if waves else SIZES[1] for index in range(len(rates))]
    return [Seen(rate * size, PoolTuple(size, 3, 500)) for rate, size in zip(rates, sizes, strict=True)]


def noise(count: int, share: float, correlation: float, rng: np.random.Generator) -> NDArray[np.float64]:
    fresh = share * rng.standard_normal(count)
    for index in range(1, count):
        fresh[index] = correlation * fresh[index - 1] + np.sqrt(1.0 - correlation**2) * fresh[index]
    return np.exp(fresh)


def bursts(count: int, period_s: float, burst_s: float, quiet: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rates of which a share `quiet` is left between the bursts, from any phase on."""
    phase_s = (np.arange(count) * WINDOW_S + rng.uniform(0.0, period_s)) % period_s
    return np.where(phase_s < burst_s, 1000.0, quiet * 1000.0)


@pytest.mark.parametrize("waves", [False, True], ids=["held", "waves"])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_at_most_one_steady_noisy_load_of_a_hundred_is_said_to_repeat_itself(correlation: float, waves: bool) -> None:
    rng = np.random.default_rng(1)
    steady = [1000.0 * noise(count, share, correlation, rng) for count in (60, 240) for share in [0.05, 0.2] * 50]
    told = [load_period_s(windows(rates, waves=waves)) for rates in steady]
    assert sum(period_s is not None for period_s in told) <= len(steady) // 100


@pytest.mark.parametrize("waves", [False, True], ids=["held", "waves"])
@pytest.mark.parametrize("period_s", [5.0, 10.0, 60.0])
def test_nineteen_loads_with_bursts_of_twenty_are_seen_with_their_period(period_s: float, waves: bool) -> None:
    rng = np.random.default_rng(2)
    count = round(6 * period_s / WINDOW_S)
    told = [
        load_period_s(
            windows(bursts(count, period_s, period_s / 5, 0.1, rng) * noise(count, 0.2, 0.0, rng), waves=waves)
        )
        for _ in range(40)
    ]
    assert sum(one is not None and abs(one / period_s - 1.0) <= 0.1 for one in told) >= 38


def test_a_job_that_takes_a_part_of_the_throughput_each_minute_is_seen() -> None:
    rng = np.random.default_rng(3)
    count = round(8 * 60 / WINDOW_S)
    told = load_period_s(windows(bursts(count, 60.0, 50.0, 0.5, rng) * noise(count, 0.1, 0.0, rng)))
    assert told == pytest.approx(60.0, abs=1.0)


def test_a_trend_is_no_period() -> None:
    rng = np.random.default_rng(4)
    rising = np.linspace(500.0, 1500.0, 240)
    assert load_period_s(windows(rising * noise(240, 0.05, 0.0, rng))) is None


@pytest.mark.parametrize("count", [0, 1, 14, 30])
def test_too_few_windows_say_nothing(count: int) -> None:
    rng = np.random.default_rng(5)
    assert load_period_s(windows(bursts(count, 10.0, 2.0, 0.1, rng))) is None


def test_windows_that_differ_in_length_say_nothing() -> None:
    rates = bursts(120, 10.0, 2.0, 0.1, np.random.default_rng(6))
    mixed = [Seen(rate, duration_s=0.5 if index % 2 else 2.0) for index, rate in enumerate(rates)]
    assert load_period_s(mixed) is None


@pytest.mark.parametrize("rate", [0.0, 1000.0])
def test_the_same_rate_for_ever_is_no_period(rate: float) -> None:
    assert load_period_s([Seen(rate)] * 120) is None
