"""A server that is a formula, driven by the state machine alone: a year of it takes seconds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision, Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Proposal, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules

INITIAL = PoolTuple(2, 3, 500)
WINDOW_S = 5.0

Throughput = Callable[[PoolTuple, float], float]
"""Requests a second under a tuple at a time."""


def rules(mode: Mode = Mode.APPLY, **changes: Any) -> Rules:
    """Rules of a stock server on two processors; `changes` are fields of the guard, of the pace, or of the rules."""
    guard = GuardSettings(**{name: value for name, value in changes.items() if name in GuardSettings.model_fields})
    paced = {name: value for name, value in changes.items() if name in PaceSettings.model_fields}
    pace = PaceSettings(**{"least_requests": 0, **paced})  # formulas count nothing
    of_rules = ("hours", "approval", "min_rows_share", "thread_stack_bytes")
    others = {name: value for name, value in changes.items() if name in of_rules}
    return Rules(mode, guard, pace, Envelope.of(guard, KnobSpace.stock(2)), **others)


@dataclass
class Drive:
    """A tuner on a formula.

    Attributes:
        throughput: The formula.
        rules: What is allowed.
        ratios: What the workload looks like under a tuple at a time; nothing is shown if None.
        ratio_noise: Standard deviation of each ratio of a window.
        latency: Milliseconds under a tuple; not known if None.
        rows: Rows read a second under a tuple at a time; not shown if None.
        rows_noise: Standard deviation of ln rows read of a window.
        cpus: Processors that the server may use; not known if None.
        throttled: Share of the periods of its CPU quota in which that is used up.
        most_gain: The most that any candidate can bring, in ln goodput; None where nothing bounds it.
        known: What was known at the beginning.
        wanted: What the predictor proposes.
        gain: What it promises; None is nothing.
        improvement: What trying it is expected to take off the regret; None is not estimated.
        noise: Standard deviation of ln throughput of a window.
        in_force: The tuple in force.
        at_s: The time.
        decisions: What was decided so far.
        looks: By what.
        seen: What was in force during each window, and its throughput without noise.
    """

    throughput: Throughput
    rules: Rules = field(default_factory=rules)
    ratios: Callable[[PoolTuple, float], Sequence[float]] | None = None
    ratio_noise: float = 0.0
    latency: Callable[[PoolTuple], float] | None = None
    rows: Throughput | None = None
    rows_noise: float = 0.0
    cpus: float | None = None
    throttled: float = 0.0
    most_gain: float | None = None
    known: KnownWorkloads = field(default_factory=KnownWorkloads)
    wanted: PoolTuple = INITIAL
    gain: float | None = 0.5
    improvement: float | None = None
    noise: float = 0.0
    seed: int = 0
    in_force: PoolTuple = INITIAL
    at_s: float = 0.0
    decisions: list[Decision] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    seen: list[tuple[PoolTuple, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.memory = Memory.begin(self.in_force, self.at_s, self.known)
        self.decision = self.memory.decision("begins")

    def observation(self, **changes: Any) -> Observation:
        """Acts on the latest decision and looks; `changes` are fields of the observation."""
        if self.decision.pool_tuple is not None:
            self.in_force = self.decision.pool_tuple
        rate = self.throughput(self.in_force, self.at_s)
        self.at_s += WINDOW_S
        self.seen.append((self.in_force, rate))
        noisy = rate * float(np.exp(self.noise * self.rng.standard_normal()))
        shown = () if self.ratios is None else self.ratios(self.in_force, self.at_s - WINDOW_S)
        seen = tuple(each + self.ratio_noise * float(self.rng.standard_normal()) for each in shown)
        latency_ms = None if self.latency is None else self.latency(self.in_force)
        reading = Reading(
            goodput_per_s=max(noisy, 0.1),
            throughput_per_s=noisy,
            latency_ms=latency_ms,
            seconds=WINDOW_S,
            rows_read_per_s=self._rows_read_per_s(),
            ratios=seen,
            cpus=self.cpus,
            throttled=self.throttled,
            most_by_more=self.most_gain,
            most_by_fewer=self.most_gain,
        )
        keeps = self.wanted == self.in_force
        proposal = Proposal(
            pool_tuple=self.wanted,
            abstained=False,
            gain=0.0 if keeps else self.gain,
            improvement=self.improvement,
            reason="told so",
        )
        values = {
            "at_s": self.at_s,
            "unix_s": 1_700_000_000.0 + self.at_s,
            "in_force": self.in_force,
            "reading": reading,
            "proposal": proposal if self.decision.ask else None,
        }
        return Observation(**{**values, **changes})

    def _rows_read_per_s(self) -> float | None:
        if self.rows is None:
            return None
        scatter = self.rows_noise * self.rng.standard_normal() if self.rows_noise else 0.0
        return self.rows(self.in_force, self.at_s - WINDOW_S) * float(np.exp(scatter))

    def turn(self, **changes: Any) -> Decision:
        """One look and what is decided."""
        observation = self.observation(**changes)
        self.observations.append(observation)
        self.memory, self.decision = decide(self.memory, observation, self.rules)
        self.decisions.append(self.decision)
        return self.decision

    def run(self, windows: int) -> list[Decision]:
        """So many turns."""
        return [self.turn() for _ in range(windows)]

    def until(self, state: State, most: int = 400) -> Decision:
        """Turns until a state is entered.

        Raises:
            AssertionError: It never is.
        """
        for _ in range(most):
            if self.turn().state is state:
                return self.decision
        raise AssertionError(f"never came to {state}; last: {self.decision}")

    def states(self) -> list[State]:
        """The states passed through, each once in a row."""
        found: list[State] = []
        for decision in self.decisions:
            if not found or found[-1] is not decision.state:
                found.append(decision.state)
        return found


def rising(pool_tuple: PoolTuple, _at_s: float) -> float:
    """Grows with the size up to 16, and with a shorter timer."""
    return float(100.0 * min(pool_tuple.pool_size, 16) ** 0.7 * (500 / pool_tuple.timer_interval_ms) ** 0.1)


def flat(_pool_tuple: PoolTuple, _at_s: float) -> float:
    """The same whatever is set."""
    return 1000.0


def falling(pool_tuple: PoolTuple, _at_s: float) -> float:
    """Best at two groups, and worse by a third for every doubling away from them."""
    return float(1000.0 * 0.67 ** abs(np.log2(pool_tuple.pool_size / 2)))


@pytest.fixture
def drive() -> Iterator[Callable[..., Drive]]:
    """Makes drives, and holds every one to what must hold in all of them."""
    made: list[Drive] = []

    def make(throughput: Throughput, **values: Any) -> Drive:
        made.append(Drive(throughput, **values))
        return made[-1]

    yield make
    for one in made:
        hold_to_the_rules(one)


def is_mix(pool_tuple: PoolTuple, *others: PoolTuple) -> bool:
    """Whether each knob has the value of one of the others."""
    return all(value in [other.as_dict()[name] for other in others] for name, value in pool_tuple.as_dict().items())


def hold_to_the_rules(drive: Drive) -> None:
    """Every tuple that was set is a step from the incumbent, or was verified earlier.

    The incumbent was in force then, or verified earlier; beside what a person has set, knob by knob. Every trial says
    what it may ask for at worst.
    """
    incumbent = {INITIAL, *(each.best for each in drive.known.entries)}
    for before, observation, decision in zip(
        [None, *drive.decisions], drive.observations, drive.decisions, strict=False
    ):
        if before is not None and decision.incumbent != before.incumbent:
            theirs = observation.in_force is not None and is_mix(
                decision.incumbent, before.incumbent, observation.in_force
            )
            assert theirs or decision.incumbent in incumbent
        incumbent.add(decision.incumbent)
        wanted = decision.pool_tuple
        if decision.most_lost > 0.0 and wanted is not None:
            assert f"({wanted.active_threads} threads" in decision.reason
        if wanted is not None and wanted not in incumbent:
            drive.rules.envelope.check(decision.incumbent, wanted)
            assert drive.rules.mode is Mode.APPLY
