"""What a tuner would refuse in the middle of the demonstration is refused before it begins."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("guard.factor", 0.5, "greater than 1"),
        ("guard.factor", 17.0, "less than or equal to 16"),
        ("guard.trials_per_hour", 0, "greater than or equal to 1"),
        ("pace.baseline_windows", 1, "greater than or equal to 2"),
        ("pace.shift", 0.0, "greater than 0"),
        ("window_s", 0.05, "greater than or equal to 0.1"),
    ],
)
def test_bounds_are_those_of_a_tuner(name: str, value: float, reason: str) -> None:
    with pytest.raises(SettingError, match=f"setting '{name}': Input should be {reason}; it is {value}"):
        ProductionDemoSettings.load(None, {name: value})


def test_settings_that_contradict_one_another_are_those_of_a_tuner() -> None:
    with pytest.raises(SettingError, match=r"^pace\.least_pairs is 4, above pace\.most_pairs, which is 3"):
        ProductionDemoSettings.load(None, {"pace.least_pairs": 4})


def test_widest_bounds_are_taken() -> None:
    settings = ProductionDemoSettings.load(None, {"guard.factor": 16.0, "pace.baseline_windows": 2, "window_s": 0.1})
    assert (settings.guard.factor, settings.pace.baseline_windows, settings.window_s) == (16.0, 2, 0.1)
