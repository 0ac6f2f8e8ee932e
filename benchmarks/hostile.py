"""Hostile predictions and windows: does the tuner ever set what is outside its ranges or beyond a step?

    python benchmarks/hostile.py --observations 1000000 --json benchmarks/reports/hostile.json

Every look is drawn to do harm: predictions of any whole numbers, near ones, and such as walk away step by step, of
gains that are no numbers; windows that reward whatever is furthest off, that jump by decades, or that nobody filled;
ratios of known workloads; people who set anything at all, servers that vanish, restart and refuse; clocks that leap.
Operators' ranges are drawn too. What must hold is stated here once more in plain arithmetic, apart from the envelope:

* a tuple that is decided on is the verified one, or was in force or verified before and lies within ranges and threads,
  or lies within ranges and threads and at most a factor, or one, from the verified one in each knob;
* what is verified changes only to what is in force, with the knobs of what was verified for those that a try has
  changed, or back to what was verified before.
"""

import argparse
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.table import Table

from code_digest import made_with
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.models.advice.prediction import Prediction
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision, Mode
from poolpilot.serve.tuner.machine.evidence.tuner_observation import LEAST, MOST, Observation, Proposal, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules

EPISODE = 500
HOME = PoolTuple(2, 3, 500)
CPUS = 2
WINDOW_S = 5.0


@dataclass
class Tally:
    """What was seen.

    Attributes:
        looks: Looks decided on.
        proposals: Predictions among them.
        set_tuples: Decisions that changed what is in force.
        recalled: Of these, moves to what was verified for a known workload.
        violations: What must hold and did not, as sentences.
        states: Decisions in each state.
    """

    looks: int = 0
    proposals: int = 0
    set_tuples: int = 0
    recalled: int = 0
    violations: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)


class HostileServer:
    """A server, a predictor, people and a clock that mean ill; one episode of it.

    Args:
        rng: Where the ill will is drawn from.
        rules: What the operator allows.
        known: A memory whose known workloads are taken over; None for none.
    """

    def __init__(self, rng: np.random.Generator, rules: Rules, known: Memory | None = None) -> None:
        self.rules, self._rng = rules, rng
        self.memory = Memory.begin(HOME, 0.0, None if known is None else known.known)
        self.decision = self.memory.decision("begins")
        self._in_force, self._at_s = HOME, 0.0
        self._earlier = {HOME, *(each.best for each in self.memory.known.entries)}
        self._looks = rng.uniform(0.0, 1.0, (3, 6)).round(4)
        self._character = int(rng.integers(4))

    def turn(self, tally: Tally) -> None:
        """One observation, one decision, and whether what must hold does."""
        observation = self._observation(tally)
        before = self.memory
        self.memory, decision = decide(before, observation, self.rules)
        tally.looks += 1
        tally.states[decision.state] += 1
        self._hold(before, observation, decision, tally)
        self.decision = decision

    def _observation(self, tally: Tally) -> Observation:
        rng = self._rng
        if self.decision.pool_tuple is not None and rng.random() > 0.01:
            tally.set_tuples += self.decision.pool_tuple != self._in_force
            self._in_force = self.decision.pool_tuple
        trouble = rng.random()
        if trouble < 0.004:
            self._in_force = self._anything(sane=True)
        self._at_s += float(
            rng.choice([0.0, WINDOW_S, WINDOW_S, WINDOW_S, 900.0, 1e7], p=[0.05, 0.3, 0.3, 0.25, 0.09, 0.01])
        )
        asked = self.decision.ask or rng.random() < 0.9
        tally.proposals += asked
        refused = "no" if 0.99 < trouble < 0.995 else None
        return Observation(
            at_s=self._at_s,
            unix_s=float(rng.uniform(0.0, 4e9)),
            in_force=None if trouble > 0.995 else self._in_force,
            reading=None if rng.random() < 0.02 else self._reading(),
            proposal=self._proposal() if asked else None,
            hindrances=(Hindrance("a backup runs"),) if rng.random() < 0.01 else (),
            kill=bool(rng.random() < 0.003),
            approved=str(self._anything()) if rng.random() < 0.5 else str(self.decision.would),
            restarted=bool(rng.random() < 0.002),
            refused=refused,
            overtaken=bool(rng.random() < 0.002),
            changed_by_others=bool(rng.random() < 0.002),
        )

    def _reading(self) -> Reading:
        rng = self._rng
        far = sum(abs(math.log(max(now, 1) / home)) for now, home in zip(self._in_force.core, HOME.core, strict=True))
        level = {
            0: 6.0 + far,
            1: 6.0 - far,
            2: 6.0,
            3: float(rng.uniform(math.log(LEAST) + 2.0, math.log(MOST) - 2.0)),
        }[self._character]
        noise = float(rng.choice([0.0, 0.01, 0.5])) * float(rng.standard_normal())
        goodput = min(max(math.exp(level + noise), LEAST), MOST)
        latency = None if rng.random() < 0.5 else math.exp(float(rng.uniform(-20.0, 20.0)))
        drawn = self._looks[int(rng.integers(3))]
        ratios = tuple(float(each) for each in drawn) if rng.random() < 0.8 else ()
        seconds = float(rng.choice([1e-6, WINDOW_S, 86_400.0]))
        return Reading(
            goodput_per_s=goodput, throughput_per_s=goodput, latency_ms=latency, seconds=seconds, ratios=ratios
        )

    def _proposal(self) -> Proposal:
        rng = self._rng
        gain = rng.choice([0.5, 1e308, -1e308, 0.0, math.nan, math.inf])
        expected = None if rng.random() < 0.3 else float(gain)
        abstained = bool(rng.random() < 0.05)
        answer = Prediction(self._anything(), self._in_force, abstained, ("ill will",), "", expected_gain=expected)
        return Proposal.of(answer, 0.0)

    def _anything(self, *, sane: bool = False) -> PoolTuple:
        """Any numbers; `sane` ones are such as a server takes from a person."""
        rng = self._rng
        if sane:
            return PoolTuple(int(rng.integers(1, 1000)), int(rng.integers(1, 1000)), int(rng.integers(1, 60_000)))
        kind = int(rng.integers(4))
        if kind == 0:
            signs, exponents = rng.choice([-1, 1], 3), rng.integers(0, 70, 3)
            size, oversubscribe, stall = (
                int(sign) * 2 ** int(each) for sign, each in zip(signs, exponents, strict=True)
            )
            return PoolTuple(size, oversubscribe, stall)
        if kind == 1:
            away = rng.integers(-2, 3, 3)
            now = self.decision.incumbent.core
            return PoolTuple(now[0] + int(away[0]), now[1] + int(away[1]), now[2] + int(away[2]))
        if kind == 2:
            return PoolTuple(10**6, 10**6, 1)
        return PoolTuple(int(rng.integers(1, 129)), int(rng.integers(1, 65)), int(rng.integers(1, 6001)))

    def _hold(self, before: Memory, observation: Observation, decision: Decision, tally: Tally) -> None:
        theirs = observation.in_force is not None and all(
            value in (then, now)
            for value, then, now in zip(
                decision.incumbent.core, before.incumbent.core, observation.in_force.core, strict=True
            )
        )
        if not theirs and decision.incumbent not in {before.incumbent, *self._earlier}:
            tally.violations.append(f"{decision.incumbent} is verified, which was never in force")
        self._earlier.add(decision.incumbent)
        wanted = decision.pool_tuple
        if wanted is None or wanted == decision.incumbent:
            return
        if not self._within(wanted):
            tally.violations.append(f"{wanted} is outside the ranges")
        if not self._is_a_step(decision.incumbent, wanted):
            tally.recalled += wanted != before.expected
            if wanted not in self._earlier:
                tally.violations.append(f"{wanted} is no step from {decision.incumbent}, and was not verified before")
        if self.rules.mode is not Mode.APPLY:
            tally.violations.append(f"{wanted} is set in mode {self.rules.mode}")

    def _within(self, wanted: PoolTuple) -> bool:
        guard = self.rules.guard
        size, oversubscribe, stall = wanted.core
        threads = math.inf if guard.most_threads is None else guard.most_threads
        return (
            guard.least_size <= size <= min(guard.most_size, 128)
            and 1 <= oversubscribe <= guard.most_oversubscribe
            and guard.least_stall_limit_ms <= stall <= guard.most_stall_limit_ms
            and size * (1 + oversubscribe) <= threads
        )

    def _is_a_step(self, incumbent: PoolTuple, wanted: PoolTuple) -> bool:
        factor = self.rules.guard.factor
        return all(
            abs(value - now) <= 1 or now / factor <= value <= now * factor
            for now, value in zip(incumbent.core, wanted.core, strict=True)
        )


def drawn_rules(rng: np.random.Generator) -> Rules:
    """What some operator allows."""
    guard = GuardSettings(
        factor=float(rng.choice([1.1, 2.0, 2.0, 2.0, 4.0, 16.0])),
        least_size=int(rng.choice([1, 1, 2, 8])),
        most_size=int(rng.choice([8, 64, 128])),
        most_oversubscribe=int(rng.choice([3, 8, 64])),
        least_stall_limit_ms=int(rng.choice([10, 100])),
        most_stall_limit_ms=int(rng.choice([500, 6000])),
        most_threads=None if rng.random() < 0.5 else int(rng.choice([8, 100, 1000])),
        min_gain=float(rng.choice([0.0, 0.05])),
        trials_per_hour=int(rng.choice([1, 12, 1000])),
        cool_down_s=float(rng.choice([0.0, 120.0])),
        retry_after_s=float(rng.choice([0.0, 3600.0])),
        breaker_roll_backs=int(rng.choice([1, 3, 1000])),
        circuit_open_s=600.0,
        stand_down_s=float(rng.choice([1.0, 600.0])),
    )
    pace = PaceSettings(
        observe_for_s=0.0, baseline_windows=2, least_pairs=1, most_pairs=2, verify_windows=1, ask_every_s=0.0
    )
    mode = Mode.APPLY if rng.random() < 0.95 else Mode.ADVISE
    envelope = Envelope.of(guard, KnobSpace.stock(CPUS))
    return Rules(
        mode, guard, pace if rng.random() < 0.7 else PaceSettings(), envelope, approval=bool(rng.random() < 0.1)
    )


def main() -> None:
    """Draws looks, decides, and says what was violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--observations", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rng, tally = np.random.default_rng(given.seed), Tally()
    console, began_s = terminal(), time.monotonic()
    last: Memory | None = None
    with progress_bars(console) as bars:
        for _ in bars.each("episodes", range(-(-given.observations // EPISODE)), str):
            server = HostileServer(rng, drawn_rules(rng), last if rng.random() < 0.5 else None)
            for _ in range(min(EPISODE, given.observations - tally.looks)):
                server.turn(tally)
            last = server.memory
    report = {
        "looks": tally.looks,
        "predictions": tally.proposals,
        "tuples_set": tally.set_tuples,
        "recalled": tally.recalled,
        "violations": len(tally.violations),
        "examples": tally.violations[:10],
        "states": {str(state): count for state, count in sorted(tally.states.items())},
        "seconds": round(time.monotonic() - began_s, 1),
    }
    table = Table("what", "how many", title="Hostile observations", title_justify="left")
    for name in ("looks", "predictions", "tuples_set", "recalled", "violations"):
        table.add_row(name.replace("_", " "), str(report[name]))
    console.print(table)
    write_json(given.json, {"made_with": made_with(), "seed": given.seed, **report})
    if tally.violations:
        raise SystemExit("; ".join(tally.violations[:10]))


if __name__ == "__main__":
    main()
