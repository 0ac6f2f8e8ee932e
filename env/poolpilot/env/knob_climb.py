"""Climbing the core tuple: every knob at once, each by a wave of its own frequency."""

from collections.abc import Mapping

from poolpilot.env.climb import mean_latency_s
from poolpilot.env.knobs import CORE_KNOBS, WHOLE_KNOBS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.spectral import ClimbSettings
from poolpilot.featurizer.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool import KnobClimber

USEFUL = {"oversubscribe": (1, 32), "timer_interval_ms": (1, 1000)}
"""Ranges beyond which no pool has been seen to change; a server's own limits narrow them."""


class KnobClimbController:
    """Climbs the knobs of the core tuple together.

    Args:
        settings: How it climbs.
        knobs: The server's knobs; one that needs a restart or belongs to a session is refused.
        start: Tuple it starts from; the knobs that are not climbed keep its values.
        objective: Its goodput is what is climbed on, its price that of a thread group.
        names: Knobs to climb, the pool size first.
        ranges: Ranges instead of the useful ones, by name.

    Raises:
        SettingError: A knob cannot be set live, or the start is outside a range.
    """

    def __init__(
        self,
        settings: ClimbSettings,
        knobs: KnobSpace,
        start: PoolTuple,
        objective: Objective,
        names: tuple[str, ...] = CORE_KNOBS,
        ranges: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        self._names = names
        self._objective = objective
        wanted = {**USEFUL, **(ranges or {})}
        limits = [_limits(name, knobs, wanted) for name in names]
        prices = [objective.price_of_thread if name == "pool_size" else 0.0 for name in names]
        priced = [(*one, price) for one, price in zip(limits, prices, strict=True)]
        for name, (low, high) in zip(names, limits, strict=True):
            value = getattr(start, name)
            if not low <= value <= high:
                raise SettingError(
                    f"cannot climb {', '.join(names)} from {start}: {name} is {value}, outside {low}..{high}"
                )
        try:
            self.climber = KnobClimber(settings.native(), priced, [int(getattr(start, name)) for name in names])
        except ValueError as error:
            raise SettingError(f"cannot climb {', '.join(names)} from {start}: {error}") from error

    @property
    def reason(self) -> str:
        """Why it did what it did last, in a sentence."""
        return self.climber.reason

    def propose(self, window: Window) -> PoolTuple:
        """The tuple to set next."""
        in_force = [int(getattr(window.pool_tuple, name)) for name in self._names]
        values = self.climber.update(
            self._objective.goodput_per_s(window),
            float(window.profile.features.get("connections") or 0),
            mean_latency_s(window),
            in_force,
            window.duration_s,
        )
        return PoolTuple.from_dict({**window.pool_tuple.as_dict(), **dict(zip(self._names, values, strict=True))})


def _limits(name: str, knobs: KnobSpace, wanted: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    knob = knobs.knobs.get(name)
    if knob is None or name not in WHOLE_KNOBS:
        raise SettingError(f"{name} cannot be climbed; whole-numbered knobs of this server are {_whole(knobs)}")
    if knob.restart_only or knob.per_session:
        needs = "needs a restart" if knob.restart_only else "belongs to each session"
        raise SettingError(f"{name} {needs}, so that it cannot be climbed on a live server; leave it out")
    low, high = wanted.get(name, (knob.low, knob.high))
    return int(max(low, knob.low)), int(min(high, knob.high))


def _whole(knobs: KnobSpace) -> str:
    return ", ".join(name for name in knobs.knobs if name in WHOLE_KNOBS)
