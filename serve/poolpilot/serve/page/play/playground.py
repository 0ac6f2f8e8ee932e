"""Answers of the simulator about recorded profiles: one at a time, not too often, and each made once."""

import threading
from collections import OrderedDict
from typing import Any

from poolpilot.env.measurement.sample_sweeps import sample_families
from poolpilot.env.measurement.sweep import Core
from poolpilot.serve.page.play.recorded_profile import Interval, ProfileOutcome, RecordedProfile
from poolpilot.serve.service.access.token_buckets import TokenBuckets

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
OVERSUBSCRIBES = (1, 2, 3, 4, 6, 8, 12, 16)
STALL_LIMITS_MS = (10, 20, 50, 100, 200, 500, 1000, 2000, 6000)

RATE_PER_S, BURST = 10.0, 40
"""Questions that are answered: as fast as a hand drags, not as a program asks."""

MOST_HELD = 4096
"""Simulated outcomes that are remembered."""

WAITS_S = 5.0
"""For the simulation that is being made; its first look at a profile takes a second."""


class PlaygroundBusyError(Exception):
    """Too much is asked at once."""


class Playground:
    """The profiles that come with the package."""

    def __init__(self) -> None:
        self._profiles: dict[str, RecordedProfile] = {}
        self._outcomes: OrderedDict[tuple[str, Core], ProfileOutcome] = OrderedDict()
        self._buckets = TokenBuckets(RATE_PER_S, BURST)
        self._lock = threading.Lock()

    def choices(self) -> dict[str, Any]:
        """What there is to choose from, fit for JSON."""
        return {
            "profiles": list(sample_families()),
            "pool_sizes": SIZES,
            "oversubscribes": OVERSUBSCRIBES,
            "stall_limits_ms": STALL_LIMITS_MS,
        }

    def answer(self, family: str, core: Core) -> dict[str, Any]:
        """What a profile would do under a configuration, and under other sizes, fit for JSON.

        Raises:
            SettingError: There is no such profile, or the configuration is outside its ranges.
            PlaygroundBusyError: Too much is asked.
        """
        if self._buckets.wait_s("page") > 0.0 or not self._lock.acquire(timeout=WAITS_S):
            raise PlaygroundBusyError("the simulator is busy: ask again in a second")
        try:
            return self._answer(family, core)
        finally:
            self._lock.release()

    def _answer(self, family: str, core: Core) -> dict[str, Any]:
        profile = self._profile(family)
        errors = profile.errors
        cores = [core, *((size, *core[1:]) for size in SIZES)]
        outcomes = self._simulated(profile, cores)
        intervals = (errors.throughput, errors.p99)
        shown = [self._row(profile, one, outcome, intervals) for one, outcome in zip(cores, outcomes, strict=True)]
        return {
            "profile": family,
            "connections": profile.connections,
            "processors": profile.cpus,
            "recorded_under": list(profile.in_force.core),
            "chosen": shown[0],
            "by_size": shown[1:],
            "errors": {
                "configurations": errors.configurations,
                "throughput": errors.throughput,
                "p99": errors.p99,
            },
        }

    def _profile(self, family: str) -> RecordedProfile:
        if family not in self._profiles:
            self._profiles[family] = RecordedProfile(family)
        return self._profiles[family]

    def _simulated(self, profile: RecordedProfile, cores: list[Core]) -> list[ProfileOutcome]:
        missing = [core for core in dict.fromkeys(cores) if (profile.family, core) not in self._outcomes]
        for core, outcome in zip(missing, profile.simulated(missing) if missing else [], strict=True):
            self._outcomes[profile.family, core] = outcome
        found = [self._outcomes[profile.family, core] for core in cores]
        while len(self._outcomes) > MOST_HELD:
            self._outcomes.popitem(last=False)
        return found

    @staticmethod
    def _row(
        profile: RecordedProfile, core: Core, simulated: ProfileOutcome, intervals: tuple[Interval, Interval]
    ) -> dict[str, Any]:
        measured = profile.measured.get(core)
        return {
            "pool_tuple": list(core),
            "throughput_per_s": simulated.throughput_per_s,
            "throughput_interval": _times(simulated.throughput_per_s, intervals[0]),
            "p99_ms": simulated.p99_ms,
            "p99_interval": _times(simulated.p99_ms, intervals[1]),
            "measured_throughput_per_s": None if measured is None else measured.throughput_per_s,
            "measured_p99_ms": None if measured is None else measured.p99_ms,
        }


def _times(value: float | None, interval: Interval) -> list[float] | None:
    return None if value is None else [value * interval[0], value * interval[1]]
