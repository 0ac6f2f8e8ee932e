"""The Universal Scalability Law: the fit recovers what made the data, and names the best size."""

import math

import numpy as np
import pytest

from poolpilot.agent.baselines.usl import UslFit, fit_usl
from poolpilot.errors import SettingError

SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def rates(law: UslFit) -> list[float]:
    return [law.throughput_per_s(size) for size in SIZES]


@pytest.mark.parametrize(
    "law",
    [
        UslFit(995.6, 0.0267, 0.000769),
        UslFit(50_000.0, 0.3, 0.02),
        UslFit(10.0, 0.0, 0.001),
        UslFit(10.0, 0.05, 0.0),
        UslFit(10.0, 0.0, 0.0),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_fit_recovers_the_law_without_noise(law: UslFit, relative: bool) -> None:
    fitted = fit_usl(SIZES, rates(law), rates(law) if relative else None)
    assert fitted.scale == pytest.approx(law.scale, rel=1e-6)
    assert fitted.contention == pytest.approx(law.contention, abs=1e-7)
    assert fitted.coherency == pytest.approx(law.coherency, abs=1e-8)


def test_fit_comes_near_with_noise() -> None:
    law = UslFit(1000.0, 0.03, 0.001)
    noisy = np.array(rates(law)) * np.exp(0.03 * np.random.default_rng(1).standard_normal(len(SIZES)))
    fitted = fit_usl(SIZES, list(noisy), list(0.03 * noisy))
    assert law.throughput_per_s(fitted.best_size(1, 128)) >= 0.98 * law.throughput_per_s(law.best_size(1, 128))


def test_sizes_of_little_error_weigh_more() -> None:
    law = UslFit(1000.0, 0.03, 0.001)
    wrong = [*rates(law)[:-1], 2.0 * rates(law)[-1]]
    fitted = fit_usl(SIZES, wrong, [1.0] * 6 + [1e6])
    assert fitted.coherency == pytest.approx(law.coherency, rel=1e-3)


def test_parameters_are_never_negative_where_pairs_help_one_another() -> None:
    fitted = fit_usl((1, 2, 4, 8), (10.0, 25.0, 60.0, 150.0))
    assert (fitted.contention, fitted.coherency) == (0.0, 0.0)
    assert fitted.best_size(1, 64) == 64


@pytest.mark.parametrize(
    ("law", "size"), [(UslFit(1.0, 0.19, 0.0081), 10), (UslFit(1.0, 0.0, 1.0 / 900.0), 30), (UslFit(1.0, 2.0, 0.1), 1)]
)
def test_best_size_without_a_price_is_the_closed_form(law: UslFit, size: int) -> None:
    assert law.best_size(1, 128) == size
    assert size == max(1, round(math.sqrt(max(0.0, 1.0 - law.contention) / law.coherency)))


@pytest.mark.parametrize("price", [0.0, 0.02, 0.15, 0.9, 1.5])
@pytest.mark.parametrize("contention", [0.0, 0.05, 0.6, 1.4])
@pytest.mark.parametrize("coherency", [0.0, 1e-4, 0.01, 0.4])
def test_best_size_is_that_of_trying_all(price: float, contention: float, coherency: float) -> None:
    law = UslFit(100.0, contention, coherency)
    worth = {size: math.log(law.throughput_per_s(size)) - price * math.log(size) for size in range(3, 101)}
    assert worth[law.best_size(3, 100, price)] == pytest.approx(max(worth.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "throughputs", "errors", "text"),
    [
        ((1, 2), (1.0, 2.0), None, "3 distinct sizes"),
        ((1, 2, 2), (1.0, 2.0, 2.0), None, "3 distinct sizes"),
        ((1, 2, 4), (1.0, 2.0), None, "one throughput"),
        ((1, 2, 4), (1.0, 2.0, 3.0), (1.0,), "one throughput"),
        ((1, 2, 4), (1.0, 0.0, 3.0), None, "above 0"),
        ((1, 2, 4), (1.0, math.nan, 3.0), None, "above 0"),
    ],
)
def test_fit_says_what_it_lacks(
    sizes: tuple[float, ...], throughputs: tuple[float, ...], errors: tuple[float, ...] | None, text: str
) -> None:
    with pytest.raises(SettingError, match=text):
        fit_usl(sizes, throughputs, errors)
