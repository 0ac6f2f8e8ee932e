"""Climbing the core tuple: every knob at once, each by a wave of its own frequency.

The method is that of `spectral.py`, after Ilya Trub, "Adaptive Thread Pool: Improving MySQL Scalability With AI"
(docs/references.md). Each further knob swings half as fast: odd harmonics of one square wave meet no other knob's, so
that one spectrum tells every slope. Knobs that shift one another's optimum take shorter steps once a slope changes its
sign, as in M. Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning: the RPROP
algorithm", 1993. It runs in C++ (`native_pool/climb/knobs.cpp`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from poolpilot.env.climbing.best_seen import BestSeen
from poolpilot.env.climbing.climb import HOLDING, connections_of, mean_in_system, mean_latency_s
from poolpilot.env.climbing.spectral import ClimbSettings, as_native
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import CORE_KNOBS, WHOLE_KNOBS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool import KnobClimber, SpectralSettings

if TYPE_CHECKING:
    from poolpilot.native_pool._core import KnobRecord, KnobState

SIZE_ALONE = ("pool_size",)
"""What a climb climbs unless other knobs are named, by the climber of the size alone."""

USEFUL = {"oversubscribe": (1, 32), "timer_interval_ms": (1, 1000)}
"""Ranges beyond which no pool has been seen to change; a server's own limits narrow them."""


class NamedRecord(TypedDict):
    """A record of `KnobClimber` that calls the knobs by their names; times are in seconds."""

    sample: int
    mode: str
    knobs: "dict[str, KnobState]"
    throughput: float | None
    duration_s: float | None
    period_s: float
    decision: str
    reason: str


class KnobClimbController(Controller):
    """Climbs the knobs of the core tuple together.

    Args:
        settings: How it climbs.
        knobs: The server's knobs; one that needs a restart or belongs to a session is refused.
        start: Tuple it starts from; the knobs that are not climbed keep its values.
        objective: What is climbed on: the goodput, or the slope towards it, within floors and limits; its price is that
            of a thread group.
        names: Knobs to climb, the pool size first.
        ranges: Ranges instead of the useful ones, by name.
        reference: What floors are shares of; the first window unless one is given.

    Raises:
        SettingError: A knob cannot be set live, or the start is outside a range.
    """

    def __init__(
        self,
        settings: ClimbSettings | SpectralSettings,
        knobs: KnobSpace,
        start: PoolTuple,
        objective: Objective,
        names: tuple[str, ...] = CORE_KNOBS,
        ranges: Mapping[str, tuple[int, int]] | None = None,
        reference: Window | None = None,
    ) -> None:
        self._names = names
        self._next = start
        self._seen = BestSeen(objective, reference)
        limits = climb_limits(names, knobs, start, ranges or {})
        prices = self._prices(objective.price_of_thread)
        priced = [(*limit, price) for limit, price in zip(limits, prices, strict=True)]
        try:
            self.climber = KnobClimber(as_native(settings), priced, [int(getattr(start, name)) for name in names])
        except ValueError as error:
            raise SettingError(f"cannot climb {', '.join(names)} from {start}: {error}") from error
        self.reason = self.climber.latest["reason"]

    @property
    def names(self) -> tuple[str, ...]:
        """The knobs that are climbed."""
        return self._names

    @property
    def settings(self) -> SpectralSettings:
        """The settings in force."""
        return self.climber.settings

    @property
    def mode(self) -> str:
        """USUAL while it climbs, OPTIMIZED while it holds."""
        return self.climber.mode

    @property
    def latest(self) -> NamedRecord:
        """The latest record, kept even where the log is off."""
        return self._named(self.climber.latest)

    def log(self) -> list[NamedRecord]:
        """One record of every update, oldest first, where the log is on."""
        return [self._named(record) for record in self.climber.log()]

    def adopt(self, settings: ClimbSettings | SpectralSettings) -> None:
        """Uses other settings, their price of a thread included, from the next window on.

        Raises:
            SettingError: A value is out of range or contradicts another; the old settings stay.
        """
        native = as_native(settings)
        try:
            self.climber.adopt(native, self._prices(native.price_of_thread))
        except ValueError as error:
            raise SettingError(str(error)) from error

    def suggest(self) -> Trial:
        """The values that the climber has asked for, for as long as it wants to see them."""
        return Trial(self._next, self.climber.period_s or None)

    def observe(self, window: Window) -> None:
        """Takes a window as one sample of the climber."""
        climbed_per_s = self._seen.add(window, self._next)
        in_force = [int(getattr(window.pool_tuple, name)) for name in self._names]
        values = self.climber.update(
            climbed_per_s,
            connections_of(window),
            mean_latency_s(window),
            in_force,
            window.duration_s,
            mean_in_system(window),
            window.throughput_per_s,
        )
        self.reason = self.climber.latest["reason"]
        self._next = PoolTuple.from_dict({**window.pool_tuple.as_dict(), **dict(zip(self._names, values, strict=True))})

    def recommend(self) -> PoolTuple | None:
        """See `ClimbController.recommend`."""
        return self._next if self.mode == HOLDING else self._seen.pool_tuple

    def _prices(self, price_of_thread: float) -> list[float]:
        return [price_of_thread if name == "pool_size" else 0.0 for name in self._names]

    def _named(self, record: "KnobRecord") -> NamedRecord:
        return {**record, "knobs": dict(zip(self._names, record["knobs"], strict=True))}


def climb_limits(
    names: Sequence[str], knobs: KnobSpace, start: PoolTuple, ranges: Mapping[str, tuple[int, int]]
) -> list[tuple[int, int]]:
    """The values that a climb may try of each knob: the useful ones as far as the server allows them.

    Args:
        names: The knobs.
        knobs: The server's knobs.
        start: Tuple it starts from.
        ranges: Ranges instead of the useful ones, by name.

    Raises:
        SettingError: A knob cannot be climbed on this server, or the start is outside a range; the text says why.
    """
    limits = [_limits(name, knobs, {**USEFUL, **ranges}) for name in names]
    limits = _within_threads(names, limits, knobs, start)
    for name, (low, high) in zip(names, limits, strict=True):
        if not low <= (value := getattr(start, name)) <= high:
            raise SettingError(
                f"cannot climb {', '.join(names)} from {start}: {name} is {value}, outside {low}..{high}; "
                "set it inside that range first, or leave it out"
            )
    return limits


def _within_threads(
    names: Sequence[str], limits: list[tuple[int, int]], knobs: KnobSpace, start: PoolTuple
) -> list[tuple[int, int]]:
    """The same with no more threads a group than there are for the largest size, and as many as at the start."""
    if knobs.most_threads is None or "oversubscribe" not in names:
        return limits
    largest = limits[names.index("pool_size")][1] if "pool_size" in names else start.pool_size
    most = max(knobs.most_threads // largest - 1, start.oversubscribe)
    return [
        (low, max(low, min(high, most))) if name == "oversubscribe" else (low, high)
        for name, (low, high) in zip(names, limits, strict=True)
    ]


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
