"""A recorded profile is simulated as recorded, and says how far simulation and record are apart."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.page.play.recorded_profile import ProfileOutcome, RecordedProfile, SimulationErrors


@pytest.fixture(scope="module")
def profile() -> RecordedProfile:
    return RecordedProfile("page_faults")


def test_what_was_recorded_is_near_what_is_simulated(profile: RecordedProfile) -> None:
    (simulated,) = profile.simulated([profile.in_force.core])
    measured = profile.measured[profile.in_force.core]
    assert simulated.throughput_per_s == pytest.approx(measured.throughput_per_s, rel=0.1)


def test_the_better_configuration_is_simulated_as_better(profile: RecordedProfile) -> None:
    stock, larger = profile.simulated([(2, 3, 500), (16, 3, 10)])
    assert larger.throughput_per_s > 2 * stock.throughput_per_s
    assert profile.measured[16, 3, 10].throughput_per_s > 2 * profile.measured[2, 3, 500].throughput_per_s


def test_errors_are_of_configurations_that_it_was_not_rebuilt_from(profile: RecordedProfile) -> None:
    errors = profile.errors
    assert errors.configurations == len(profile.measured) - 1
    for low, high in (errors.throughput, errors.p99):
        assert 0.0 < low < high
    inside = sum(
        errors.throughput[0] <= measured.throughput_per_s / simulated.throughput_per_s <= errors.throughput[1]
        for core, measured in profile.measured.items()
        for simulated in profile.simulated([core])
    )
    assert inside >= 0.85 * len(profile.measured)


@pytest.mark.parametrize("core", [(0, 3, 500), (100_000, 3, 500), (2, 0, 500), (2, 3, 0)])
def test_what_the_recorded_server_would_refuse_is_refused(profile: RecordedProfile, core: tuple[int, int, int]) -> None:
    with pytest.raises(SettingError, match="allowed"):
        profile.simulated([core])


def test_configurations_under_which_nothing_ended_tell_nothing() -> None:
    made = {(1, 1, 10): ProfileOutcome(0.0, None), (2, 1, 10): ProfileOutcome(100.0, 10.0)}
    real = {(1, 1, 10): ProfileOutcome(5.0, 1.0), (2, 1, 10): ProfileOutcome(80.0, None)}
    errors = SimulationErrors.of(made, real)
    assert (errors.throughput, errors.p99) == ((0.8, 0.8), (1.0, 1.0))
