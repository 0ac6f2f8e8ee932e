"""What the demonstration could not run is refused before it begins, and its parts fit into the time it has."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.demo.demo_schedule import LEAST_HORIZON_S
from poolpilot.pipelines.demo.demo_settings import DemoSettings, MariadbDemoSettings


@pytest.mark.parametrize("seconds", [9.9, 4000.0, float("nan")])
def test_time_has_a_range(seconds: float) -> None:
    with pytest.raises(SettingError, match="seconds"):
        DemoSettings.load(None, {"seconds": seconds})


@pytest.mark.parametrize("model", [DemoSettings, MariadbDemoSettings])
def test_climbs_are_watched_as_long_as_there_is_time_and_no_longer(model: type[DemoSettings]) -> None:
    schedule = model().schedule
    assert schedule.horizon_within(1000.0) == schedule.horizon_s
    assert schedule.horizon_within(20.0) == pytest.approx(4.0)
    assert schedule.horizon_within(0.0) == LEAST_HORIZON_S
