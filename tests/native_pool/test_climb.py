"""The spectral climber through its Python face, on curves with a known optimum."""

import json
import math
import random
from collections.abc import Callable

import pytest

from poolpilot.native_pool import Climber, SpectralClimber, SpectralSettings
from poolpilot.native_pool._core import (
    ControlTheoryClimber,
    DotnetClimber,
    GoldenSectionClimber,
    ProbingClimber,
    ThreeStateClimber,
)

Curve = Callable[[float], float]

PRICE = 0.02
MAX_SIZE = 64


RECORD = {
    *("sample", "mode", "size", "next_size", "wave_low", "wave_high", "bracket_low", "bracket_high", "throughput"),
    *("size_harmonic", "throughput_harmonic", "ratio", "error", "progress", "period_s", "decision", "reason"),
}


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
    return SpectralSettings(
        hcm_hillclimbing_enabled=True,
        hcm_log_enabled=True,
        min_accepted_throughput=1.0,
        price_of_thread=PRICE,
        verify_warm_start=False,
    )


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
    size = play(climber, curve, climber.size, 160)
    assert climber.mode == "OPTIMIZED"
    assert loss(curve, size) <= 0.05


@pytest.mark.parametrize("curve", [arch, knee, falling])
def test_finds_it_in_noise_nine_times_of_ten(curve: Curve) -> None:
    losses = []
    for seed in range(30):
        climber = SpectralClimber(small_server(), 4, 1, MAX_SIZE)
        size = play(climber, curve, climber.size, 2000, random.Random(seed))
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


def test_log_has_a_record_of_every_update() -> None:
    climber = SpectralClimber(small_server().replaced(scan_rounds=0), 4, 1, MAX_SIZE)
    play(climber, arch, climber.size, 200)
    log = climber.log()
    assert set(log[0]) == RECORD
    assert [record["sample"] for record in log] == list(range(len(log)))
    assert (log[0]["mode"], log[-1]["mode"]) == ("USUAL", "OPTIMIZED")
    assert log[-1] == climber.latest
    assert {"start", "wave", "jump up", "narrow", "hold"} <= {record["decision"] for record in log}
    json.dumps([{**record, "size_harmonic": abs(record["size_harmonic"]), "throughput_harmonic": 0} for record in log])


def test_settings_are_readable_replaceable_and_checked() -> None:
    settings = SpectralSettings(hcm_hiccup=3.0)
    assert settings.hcm_hiccup == 3.0
    assert settings.replaced(scan_rounds=8).as_dict() == {**settings.as_dict(), "scan_rounds": 8}
    with pytest.raises(ValueError, match="scan_rounds is -1"):
        SpectralSettings(scan_rounds=-1)
    with pytest.raises(ValueError, match="hcm_hiccup is nan"):
        SpectralSettings(hcm_hiccup=math.nan)
    with pytest.raises(TypeError, match="no setting named 'wave_periods'"):
        SpectralSettings(wave_periods=4)
    with pytest.raises(TypeError, match="scan_rounds must be an integer"):
        SpectralSettings(scan_rounds="four")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="trubs_method must be true or false"):
        SpectralSettings(trubs_method="yes")  # type: ignore[arg-type]


def test_settings_change_while_it_runs() -> None:
    climber = SpectralClimber(small_server(), 8, 1, MAX_SIZE)
    climber.adopt(small_server().replaced(hcm_hillclimbing_enabled=False))
    assert climber.update(1000.0, 256.0, 0.25, 20) == 20
    assert climber.latest["reason"] == "switched off"


def test_absent_throughput_and_a_jump_of_the_clock_change_nothing() -> None:
    climber = SpectralClimber(small_server(), 8, 1, 8, warm=True)
    for throughput, duration_s in ((None, 0.0), (math.nan, 0.0), (-1.0, 0.0), (1000.0, -3.0), (1000.0, 1e6)):
        assert climber.update(throughput, 1.0, 0.1, 8, duration_s) == 8
        assert climber.latest["decision"] == "drop"


def test_sizes_outside_the_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="initial_size 9, max_size 8"):
        SpectralClimber(small_server(), 9, 1, 8)


BASELINES: dict[str, Callable[[int, int], Climber]] = {
    "control theory": lambda start, most: ControlTheoryClimber(start, 1, most),
    "three states": lambda start, most: ThreeStateClimber(start, 1, most),
    "dotnet": lambda start, most: DotnetClimber(start, 1, most),
    "probing": lambda start, most: ProbingClimber(start, 1, most),
    "golden section": lambda start, most: GoldenSectionClimber(start, 1, most),
}


@pytest.mark.parametrize("baseline", BASELINES)
def test_baselines_have_the_same_face(baseline: str) -> None:
    climber = BASELINES[baseline](4, MAX_SIZE)
    sizes = [climber.size]
    for _ in range(400):
        sizes.append(climber.update(arch(sizes[-1]), 256.0, 256.0 / arch(sizes[-1]), sizes[-1]))
    assert sizes[-1] == climber.size
    assert all(1 <= size <= MAX_SIZE for size in sizes)
    assert len(set(sizes)) > 1
    assert climber.period_s >= 0.0
    assert climber.update(None, 256.0, 0.1, sizes[-1]) == sizes[-1]
