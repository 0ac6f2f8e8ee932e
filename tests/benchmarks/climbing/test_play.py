"""A climber is played sample by sample, and hears what the size in force gave."""

from typing import cast

import numpy as np
import pytest

from climbing.cells import Noise
from climbing.play import CONNECTIONS_PER_SIZE, play
from climbing.reference_controllers import BASELINES, ours
from climbing.shapes import Landscape
from poolpilot.native_pool import Climber, SpectralSettings

ARCH = Landscape.of("arch", 32, 0.02)
LATER = Landscape.of("knee", 32, 0.02).scaled(0.5)


class Recording:
    """Asks for the sizes of a list, in turn, and keeps what it hears."""

    def __init__(self, asked: list[int]) -> None:
        self.asked = iter(asked)
        self.heard: list[tuple[float, float, float, int]] = []

    def update(self, throughput: float, connections: float, latency_s: float, size: int) -> int:
        self.heard.append((throughput, connections, latency_s, size))
        return next(self.asked)


def as_climber(fake: Recording) -> Climber:
    return cast(Climber, fake)


def test_first_sample_is_of_the_start_and_the_others_of_what_was_asked_for() -> None:
    fake = Recording([3, 32, 1, 7])
    assert play(as_climber(fake), 5, [ARCH], np.ones(4)).tolist() == [5, 3, 32, 1]
    assert [size for *_, size in fake.heard] == [5, 3, 32, 1]


def test_climber_hears_what_the_size_in_force_gave_in_a_closed_loop() -> None:
    fake = Recording([3, 32, 1])
    noise = np.array([1.0, 1.1, 0.9])
    sizes = play(as_climber(fake), 5, [ARCH], noise)
    throughputs = ARCH.throughputs_per_s[sizes - 1] * noise
    assert [one[0] for one in fake.heard] == pytest.approx(throughputs.tolist())
    assert {one[1] for one in fake.heard} == {CONNECTIONS_PER_SIZE * 32}
    assert [one[2] for one in fake.heard] == pytest.approx((CONNECTIONS_PER_SIZE * 32 / throughputs).tolist())


def test_each_landscape_has_half_the_samples() -> None:
    fake = Recording([5] * 10)
    play(as_climber(fake), 5, [ARCH, LATER], np.ones(10))
    before, after = ARCH.throughputs_per_s[4], LATER.throughputs_per_s[4]
    assert [one[0] for one in fake.heard] == pytest.approx([before] * 5 + [after] * 5)


@pytest.mark.parametrize("name", ["spectral", *BASELINES])
def test_same_noise_gives_the_same_run(name: str) -> None:
    make = BASELINES.get(name) or ours(SpectralSettings())
    noise = Noise(0.05).draw(200, 1)
    runs = [play(make(4, 32), 4, [ARCH, LATER], noise) for _ in range(2)]
    assert np.array_equal(runs[0], runs[1])
    assert runs[0][0] == 4
    assert len(runs[0]) == 200
    assert runs[0].min() >= 1
    assert runs[0].max() <= 32
    assert len(set(runs[0].tolist())) > 1
