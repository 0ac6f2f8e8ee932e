"""The one place that times and evaluates: settle, measure, race, repeat, re-measure."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from poolpilot.env.measurement.settling import SettleSettings, settle
from poolpilot.env.measurement.steal import StealMeter
from poolpilot.env.measurement.sweep import AGAIN_ROUND, Core, SweepEntry, entry_of
from poolpilot.env.objective import Objective
from poolpilot.env.server import AnyServer, OfferedLoad, VirtualTime, WindowSource
from poolpilot.errors import SettingError
from poolpilot.featurizer.measures import Measures
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


class MeasurementSettings(SettleSettings):
    """How long and how often a tuple is measured."""

    window_s: float = Field(default=0.3, gt=0.0, description="Seconds of a window; more where the timer ticks slowly.")
    window_requests: int | None = Field(
        default=None, ge=1, description="In virtual time a window ends after so many requests; none is no limit."
    )
    doubt_windows: float = Field(
        default=4.0,
        ge=1.0,
        description="A trial by which a floor is in doubt is measured again, for so many windows; 1 for never.",
    )
    rest_s: float = Field(
        default=0.0, ge=0.0, description="Seconds between two measurements under the old configuration."
    )
    most_steal: float = Field(
        default=1.0,
        ge=0.0,
        le=1.0,
        description="A window in which the hypervisor took a larger share of the processors is measured again.",
    )
    steal_repeats: int = Field(default=4, ge=0, description="How often at most; then the least disturbed one is kept.")
    keep_shares: tuple[float, ...] = Field(
        default=(0.32, 0.4),
        min_length=1,
        description="Share of the configurations that survives each racing round; its length is the rounds.",
    )
    finalists: int = Field(default=3, ge=1, description="Configurations that are repeated after the race.")
    final_repeats: int = Field(default=1, ge=0, description="Further windows of each finalist at most.")
    wanted_error: float = Field(
        default=0.0, ge=0.0, description="Standard error of mean J under which the finalists need no further windows."
    )
    oracle_repeats: int = Field(
        default=3, ge=0, description="Windows by which the best configuration is measured afresh."
    )

    def window_for(self, pool_tuple: PoolTuple) -> float:
        """Seconds of a window under this tuple."""
        return max(self.window_s, self.least_window_s(pool_tuple))

    def longest_s(self, pool_tuple: PoolTuple) -> float:
        """Seconds that one measurement of this tuple takes at most."""
        return self.rest_s + self.longest_settle_s(pool_tuple) + self.window_for(pool_tuple)

    def survivors(self, tuples: int, round_number: int) -> int:
        """How many of the configurations measured in a racing round go on."""
        return min(max(round(self.keep_shares[round_number] * tuples), self.finalists), tuples)

    def most_windows(self, tuples: int, *, holds_reference: bool = False) -> int:
        """Windows of a sweep over so many tuples at most; a wanted error may save some.

        Args:
            tuples: How many.
            holds_reference: Whether one of them is in every round, however poor.
        """
        race, left = 0, tuples
        for number in range(len(self.keep_shares)):
            race, left = race + left, self.survivors(left, number)
        held = max(len(self.keep_shares) - 1, 0) + self.final_repeats if holds_reference else 0
        return race + min(left, self.finalists) * self.final_repeats + self.oracle_repeats + held


MARIADB_RACING = MeasurementSettings(settle_s=0.4, window_s=0.8, final_repeats=2)
"""Windows of a sweep on MariaDB, which settles in half a second where the embedded pool takes a tenth of one: by then
connections have moved to their new groups and throughput has answered (0.1 to 0.5 s)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured window with what a record needs to know about its making.

    Attributes:
        window: The window.
        measures: Raw measures by name; empty on a server that replays windows.
        steal_share: Share of processor time the hypervisor took during the window; None if unknown, or if the
            server does not run in real time.
        settle_s: Seconds dropped before it.
        time_unix_s: Unix time at its end.
        round: Round of a sweep; `AGAIN_ROUND` when the best tuple is measured afresh.
    """

    window: Window
    measures: Measures
    steal_share: float | None
    settle_s: float
    time_unix_s: float
    round: int = 0

    @property
    def core(self) -> Core:
        """Core of the tuple it was measured under."""
        return self.window.pool_tuple.core

    @property
    def stolen(self) -> float:
        """Share of processor time that the hypervisor took, 0 where that is unknown."""
        return self.steal_share or 0.0


def observe(
    server: AnyServer,
    window_s: float,
    *,
    requests: int | None = None,
    least_s: float = 0.0,
    settle_s: float = 0.0,
    round_number: int = 0,
) -> Measured:
    """Measures one window under the tuple in force.

    Args:
        server: The server.
        window_s: Length of the window in seconds.
        requests: In virtual time, requests after which it ends.
        least_s: In virtual time, seconds before which it does not.
        settle_s: Seconds that were dropped before, for the record.
        round_number: Round of a sweep, for the record.

    Raises:
        ServerError: The tuple changed meanwhile, or the server stopped.
    """
    # What runs in virtual time, or is replayed, loses nothing to other machines.
    steal = None if isinstance(server, VirtualTime | WindowSource) else StealMeter()
    measures: Measures = {}
    if isinstance(server, WindowSource):
        window = server.observe(window_s)
    else:
        before = server.snapshot()
        if requests is not None and isinstance(server, VirtualTime):
            server.run_requests(requests, window_s, least_s)
        else:
            server.run_for(window_s)
        after = server.snapshot()
        window, measures = Window.with_measures(before, after)
    stolen = None if steal is None else steal.share()
    return Measured(window, measures, stolen, settle_s, time.time(), round_number)


def measure(
    server: AnyServer,
    pool_tuple: PoolTuple,
    settings: MeasurementSettings,
    round_number: int = 0,
    *,
    load_anew: bool = False,
) -> Measured:
    """Rests, sets a tuple, drops what settles, and measures one window.

    Args:
        server: The server.
        pool_tuple: The tuple.
        settings: How long.
        round_number: Round of a sweep, for the record.
        load_anew: Whether a load that offers a rate begins anew under the tuple. Else a window after a tuple that could
            not serve it shows its backlog, which takes many times as long to be served as it took to grow.

    Raises:
        SettingError: The tuple is outside the server's ranges.
        ServerError: The server did not take it, or stopped.
    """
    server.run_for(settings.rest_s)
    in_force = server.apply(pool_tuple)
    if load_anew and isinstance(server, OfferedLoad):
        server.begin_load_anew()
    settle_s = settle(server, in_force, settings)
    tries: list[Measured] = []
    while len(tries) <= settings.steal_repeats and all(measured.stolen > settings.most_steal for measured in tries):
        tries.append(
            observe(
                server,
                settings.window_for(in_force),
                requests=settings.window_requests,
                least_s=settings.least_window_s(in_force),
                settle_s=settle_s + sum(measured.window.duration_s for measured in tries),
                round_number=round_number,
            )
        )
    return min(tries, key=lambda measured: measured.stolen)


def sweep(
    server: AnyServer,
    tuples: Sequence[PoolTuple],
    objective: Objective,
    settings: MeasurementSettings,
    rng: np.random.Generator,
    *,
    on_measured: Callable[[Measured], None] | None = None,
    done: Iterable[Measured] = (),
    load_anew: bool = False,
    reference: PoolTuple | None = None,
) -> list[Measured]:
    """Races tuples under one workload and measures the best of them afresh.

    Every racing round measures the surviving tuples once in random order and drops the losers (successive halving,
    Karnin et al. 2013); the finalists are repeated in interleaved order; the best is measured again, since the
    best of many noisy values is too good.

    Args:
        server: The server under load.
        tuples: The tuples to compare; with `min_share` constraints the reference must be one of them.
        objective: What the windows are evaluated by.
        settings: How long and how often.
        rng: Source of the order.
        on_measured: Called with every new window, for progress and records.
        done: Windows of an earlier, interrupted call, which are not measured again.
        load_anew: Whether a load that offers a rate begins anew under every tuple, so that none pays for another.
        reference: What floors are shares of; the default tuple if None.

    Returns:
        All windows, those done before first; pass them to `WorkloadSweep.build`.

    Raises:
        SettingError: There is no tuple, or one is outside the server's ranges.
        ServerError: The server stopped.
    """
    race = _Race(server, tuples, objective, settings, rng, on_measured, list(done), load_anew, reference)
    race.run()
    return race.results


@dataclass
class _Race:
    """The state of one sweep; what is measured next follows from the results alone, so that it can be resumed."""

    server: AnyServer
    tuples: Sequence[PoolTuple]
    objective: Objective
    settings: MeasurementSettings
    rng: np.random.Generator
    on_measured: Callable[[Measured], None] | None
    results: list[Measured]
    load_anew: bool = False
    named: PoolTuple | None = None

    @property
    def reference(self) -> PoolTuple:
        """What floors are shares of."""
        return self.named or self.server.knobs.default_tuple()

    @property
    def _holds_reference(self) -> bool:
        """Whether the reference is in every round; that rows have a floor shows only in windows."""
        return self.named is not None or any(self.objective.min_share.values())

    def run(self) -> None:
        self._check()
        kept = list(self.tuples)
        rounds = len(self.settings.keep_shares)
        for number in range(rounds):
            self._measure_each(kept, number)
            kept = self._surviving(kept, number)
        finalists, last = self._with_reference(kept[: self.settings.finalists]), rounds + self.settings.final_repeats
        for number in range(rounds, last):
            if max(self._error(pool_tuple, number - 1) for pool_tuple in finalists) >= self.settings.wanted_error:
                self._measure_each(finalists, number)
        best = self._ranked(finalists, last)[0]
        while self._measured_again(best) < self.settings.oracle_repeats:
            self._measure(best, AGAIN_ROUND)

    def _surviving(self, tuples: Sequence[PoolTuple], number: int) -> list[PoolTuple]:
        return self._with_reference(self._ranked(tuples, number)[: self.settings.survivors(len(tuples), number)])

    def _with_reference(self, tuples: list[PoolTuple]) -> list[PoolTuple]:
        """The tuples and, where there are floors, the reference: what they keep is a share of what it brings."""
        if not self._holds_reference or self.reference.core in {one.core for one in tuples}:
            return tuples
        return [*tuples, next(one for one in self.tuples if one.core == self.reference.core)]

    def _measured_again(self, best: PoolTuple) -> int:
        return sum(one.round == AGAIN_ROUND and one.core == best.core for one in self.results)

    def _check(self) -> None:
        if not self.tuples:
            raise SettingError("a sweep needs at least one configuration")
        for pool_tuple in self.tuples:
            self.server.knobs.check(pool_tuple)
        if self._holds_reference and self.reference.core not in {pool_tuple.core for pool_tuple in self.tuples}:
            raise SettingError(
                f"a sweep must hold the configuration {self.reference}, which floors are shares of; add it"
            )

    def _measure_each(self, tuples: Sequence[PoolTuple], number: int) -> None:
        measured = {result.core for result in self.results if result.round == number}
        for index in self.rng.permutation(len(tuples)):
            if tuples[index].core not in measured:
                self._measure(tuples[index], number)

    def _measure(self, pool_tuple: PoolTuple, number: int) -> None:
        measured = measure(self.server, pool_tuple, self.settings, number, load_anew=self.load_anew)
        self.results.append(measured)
        if self.on_measured is not None:
            self.on_measured(measured)

    def _windows(self, core: Core, upto: int) -> list[Window]:
        """Windows of a tuple up to a round: what came later must not decide it anew when a sweep goes on."""
        return [one.window for one in self.results if one.core == core and AGAIN_ROUND < one.round <= upto]

    def _entry(self, pool_tuple: PoolTuple, upto: int) -> SweepEntry:
        of_reference = self._windows(self.reference.core, upto)
        reference = Window.pooled(of_reference) if of_reference else None
        return entry_of(self._windows(pool_tuple.core, upto), self.objective, reference)

    def _ranked(self, tuples: Sequence[PoolTuple], upto: int) -> list[PoolTuple]:
        entries = {pool_tuple: self._entry(pool_tuple, upto) for pool_tuple in tuples}
        return sorted(
            tuples, key=lambda pool_tuple: (entries[pool_tuple].feasible, entries[pool_tuple].value), reverse=True
        )

    def _error(self, pool_tuple: PoolTuple, upto: int) -> float:
        values = self._entry(pool_tuple, upto).values
        return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
