"""What the demonstration could not run is refused before it begins."""

import pytest

from poolpilot.errors import SettingError
from poolpilot.pipelines.demo.demo_settings import DemoSettings, MariadbDemoSettings


@pytest.mark.parametrize("model", [DemoSettings, MariadbDemoSettings])
@pytest.mark.parametrize("window", ["warm_start.measurement.window_s", "climb.period_s"])
def test_window_must_fit_into_the_horizon(model: type[DemoSettings], window: str) -> None:
    with pytest.raises(SettingError, match="a window of 10 s does not fit into horizon_s, which is 3"):
        model.load(None, {"horizon_s": 3.0, window: 10.0})


@pytest.mark.parametrize("model", [DemoSettings, MariadbDemoSettings])
def test_window_may_be_as_long_as_the_horizon(model: type[DemoSettings]) -> None:
    wanted = {"horizon_s": 10.0, "warm_start.measurement.window_s": 10.0, "climb.period_s": 10.0}
    assert model.load(None, wanted).climb.period_s == 10.0


def test_shortest_horizon_holds_the_windows_that_nobody_named() -> None:
    for model in (DemoSettings, MariadbDemoSettings):
        least = model.load(None, {"horizon_s": 2.001})
        assert max(least.warm_start.measurement.window_s, least.climb.period_s) <= least.horizon_s
