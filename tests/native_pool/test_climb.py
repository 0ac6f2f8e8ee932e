"""The spectral climber through its Python face, on curves with a known optimum."""

import math
import random
from collections.abc import Callable

import pytest

from poolpilot.native_pool import SpectralClimber, SpectralSettings

Curve = Callable[[float], float]

PRICE = 0.02
MAX_SIZE = 64


def arch(size: float) -> float:
    """Requests per second of a curve that rises to 32 threads and falls beyond."""
    return 1000.0 / (1.0 + 0.5 * math.log(size / 32.0) ** 2)


def knee(size: float) -> float:
    """Requests per second of a curve that rises to 8 threads and stays."""
    return 1000.0 * min(1.0, size / 8.0)


def falling(size: float) -> float:
    """Requests per second of a curve on which every thread hurts."""
    return float(1000.0 * size**-0.3)


def loss(curve: Curve, size: int) -> float:
    """Regret of `size` against the best size of the curve, both without noise."""
    values = [math.log(curve(n)) - PRICE * math.log(n) for n in range(1, MAX_SIZE + 1)]
    return 1.0 - math.exp(values[size - 1] - max(values))


def small_server() -> SpectralSettings:
    """Settings for a server of a few requests per second."""
    return SpectralSettings(min_accepted_throughput=1.0, price_of_thread=PRICE)


def play(climber: SpectralClimber, curve: Curve, size: int, samples: int, noise: random.Random | None = None) -> int:
    """Plays until the climber holds, at most `samples` samples; returns the size it asks for."""
    for _ in range(samples):
        throughput = curve(size) * (1.0 + (noise.gauss(0.0, 0.07) if noise else 0.0))
        size = climber.update(throughput, 256.0, 256.0 / throughput, size)
        if climber.mode == "OPTIMIZED":
            break
    return size


@pytest.mark.parametrize("start", [2, 8, 64])
@pytest.mark.parametrize("curve", [arch, knee, falling])
def test_finds_the_optimum_from_either_side(curve: Curve, start: int) -> None:
    climber = SpectralClimber(small_server(), start, 1, MAX_SIZE)
    size = play(climber, curve, climber.log()[-1]["size"], 160)
    assert climber.mode == "OPTIMIZED"
    assert loss(curve, size) <= 0.05


@pytest.mark.parametrize("curve", [arch, knee, falling])
def test_finds_it_in_noise_nine_times_of_ten(curve: Curve) -> None:
    losses = []
    for seed in range(30):
        climber = SpectralClimber(small_server(), 4, 1, MAX_SIZE)
        size = play(climber, curve, climber.log()[-1]["size"], 2000, random.Random(seed))
        assert climber.mode == "OPTIMIZED"
        losses.append(loss(curve, size))
    assert sum(value <= 0.10 for value in losses) >= 27


def test_warm_start_holds_and_leaves_when_the_workload_changes() -> None:
    noise = random.Random(3)
    climber = SpectralClimber(small_server(), 32, 1, MAX_SIZE, warm=True)
    for _ in range(300):
        throughput = arch(32) * (1.0 + noise.gauss(0.0, 0.05))
        assert climber.update(throughput, 256.0, 256.0 / throughput, 32) == 32
    for _ in range(40):
        if climber.mode != "OPTIMIZED":
            break
        climber.update(400.0, 256.0, 256.0 / 400.0, 32)
    assert climber.mode == "USUAL"


def test_manual_change_restarts_from_there() -> None:
    climber = SpectralClimber(small_server(), 32, 1, MAX_SIZE, warm=True)
    assert climber.update(1000.0, 256.0, 0.25, 10) == 10
    assert climber.mode == "USUAL"
    assert "changed from outside to 10" in climber.log()[-1]["reason"]


def test_log_entries_explain_every_move() -> None:
    climber = SpectralClimber(small_server(), 4, 1, MAX_SIZE)
    play(climber, arch, 4, 200)
    log = climber.log()
    assert [set(entry) for entry in log] == [{"sample", "mode", "size", "ratio", "noise", "reason"}] * len(log)
    assert log[0]["mode"] == "USUAL"
    assert log[-1]["mode"] == "OPTIMIZED"
    assert [entry["sample"] for entry in log] == sorted(entry["sample"] for entry in log)


def test_settings_are_readable_and_checked() -> None:
    settings = SpectralSettings(hcm_eps=3.0)
    assert settings.hcm_eps == 3.0
    assert settings.wave_period == 4
    with pytest.raises(ValueError, match="wave_period is 5"):
        SpectralSettings(wave_period=5)
    with pytest.raises(ValueError, match="hcm_eps is nan"):
        SpectralSettings(hcm_eps=math.nan)
    with pytest.raises(TypeError, match="no setting named 'wave_periods'"):
        SpectralSettings(wave_periods=4)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="wave_period must be an integer"):
        SpectralSettings(wave_period="four")  # type: ignore[arg-type]


def test_bad_samples_and_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="initial_size 9, max_size 8"):
        SpectralClimber(small_server(), 9, 1, 8)
    climber = SpectralClimber(small_server(), 8, 1, 8)
    with pytest.raises(ValueError, match="throughput is nan"):
        climber.update(math.nan, 1.0, 0.1, 8)
