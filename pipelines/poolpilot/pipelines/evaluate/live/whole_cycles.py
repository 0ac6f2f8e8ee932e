"""Windows of whole cycles of a load that repeats itself: a shorter one shows a part, and tuples of different parts."""

from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.load_cycles import whole_cycles_s
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MethodSettings

LEAST_S = 1.0
"""Two ticks of the stock stall limit, 500 ms, which a window must span."""

CYCLES = 6
"""Windows of a method at least: the initial one, three trials, one more of what is kept, and one for what settles."""


def run_in_cycles(settings: LiveRunSettings, cycle_s: float) -> LiveRunSettings:
    """The settings of a run under a load that repeats itself after so long; as they are where it is even."""
    if cycle_s <= 0.0:
        return settings
    paired = settings.paired.model_copy(update={"measurement": in_cycles(settings.paired.measurement, cycle_s)})
    updates = {
        "paired": paired,
        "sweep": in_cycles(settings.sweep, cycle_s),
        "period_s": whole_cycles_s(settings.period_s, cycle_s),
        "budget_s": max(settings.budget_s, CYCLES * cycle_s),
    }
    return settings.model_copy(update=updates)


def methods_in_cycles(settings: MethodSettings, cycle_s: float) -> MethodSettings:
    """The settings of the methods under such a load."""
    if cycle_s <= 0.0:
        return settings
    warm_start = settings.warm_start
    updates = {
        "climb": _climb_in_cycles(settings.climb, cycle_s),
        "measurement": in_cycles(settings.measurement, cycle_s),
        "advice_s": whole_cycles_s(settings.advice_s, cycle_s),
        "warm_start": warm_start.model_copy(update={"measurement": in_cycles(warm_start.measurement, cycle_s)}),
    }
    return settings.model_copy(update=updates)


def _climb_in_cycles(climb: ClimbSettings, cycle_s: float) -> ClimbSettings:
    longest_s = climb.longest_period_s
    updates = {
        "period_s": whole_cycles_s(climb.period_s, cycle_s),
        "longest_period_s": None if longest_s is None else whole_cycles_s(longest_s, cycle_s),
    }
    return climb.model_copy(update=updates)


def in_cycles(measurement: MeasurementSettings, cycle_s: float) -> MeasurementSettings:
    """A measurement with windows of whole cycles."""
    return measurement.model_copy(update={"window_s": whole_cycles_s(max(measurement.window_s, LEAST_S), cycle_s)})
