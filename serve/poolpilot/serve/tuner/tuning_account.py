"""What tuning did cost and bring, against never touching anything, added up from a log of decisions.

A trial is judged beside the windows around it, as it was while it ran. What a verified tuple brings is told by the
steps that led there: of the requests completed under it, the share 1 - exp(-G), where G is the sum of their gains in ln
goodput, or in ln throughput where goodput is told by the time that requests spend. That holds for as long as the
workload lasts under which they were measured; afterwards nothing is claimed.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial, noise_of
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading

Z_95 = 1.96
LATEST = 8
"""Windows by which the noise before a trial is told."""


@dataclass(frozen=True)
class Tallied:
    """A number of requests with its standard error."""

    requests: float = 0.0
    variance: float = 0.0

    def plus(self, requests: float, error: float) -> "Tallied":
        """With further ones, whose error is their own."""
        return Tallied(self.requests + requests, self.variance + error * error)

    @property
    def interval(self) -> tuple[float, float]:
        """Where it lies with 95 % confidence."""
        half = Z_95 * math.sqrt(self.variance)
        return self.requests - half, self.requests + half


@dataclass
class TuningAccount:
    """Adds up a log.

    Attributes:
        trials: Trials that were begun.
        kept: Of these, those that were verified.
        most_lost: Requests that they could have cost at most, as stated before each.
        lost: Requests that the windows of trials completed less than those beside them; negative where they gained.
        gained: Requests completed beyond what the tuple before would have completed.
        judged: Windows of which that can be said.
        windows: All windows.
    """

    trials: int = 0
    kept: int = 0
    most_lost: float = 0.0
    lost: Tallied = field(default_factory=Tallied)
    gained: Tallied = field(default_factory=Tallied)
    judged: int = 0
    windows: int = 0

    _trial: PairedTrial | None = None
    _stood: list[Reading] = field(default_factory=list)
    _steady: list[Reading] = field(default_factory=list)
    _gain: float = 0.0
    _variance: float = 0.0
    _under_gain: tuple[float, float] = (0.0, 0.0)  # requests gained under it so far, and their slope in the gain
    _last: Decision | None = None
    _at_s: float = 0.0

    @classmethod
    def of(cls, lines: Iterable[LoggedDecision]) -> "TuningAccount":
        """The account of some decisions, oldest first."""
        account = cls()
        for line in lines:
            account.add(line)
        account.close()
        return account

    def add(self, line: LoggedDecision) -> None:
        """Takes a decision and the window before it."""
        if line.observation.at_s < self._at_s:
            self._begin_anew()
        self._at_s = line.observation.at_s
        observation, decision, last = line.observation, line.decision, self._last
        reading = None if observation.reading is None else observation.reading.by_completions()
        if reading is not None:
            self.windows += 1
            self._take(reading, observation, last)
        moved = last is not None and decision.incumbent != last.incumbent
        ended = self._trial is not None and (
            decision.most_lost > 0.0 or decision.state not in (State.TRIAL, State.VERIFY)
        )
        if ended:
            self._end_trial(decision)
        elif moved:
            self._forget()
        if last is not None and decision.workload != last.workload:
            self._forget()
        if decision.most_lost > 0.0 and decision.pool_tuple is not None and reading is not None:
            self._begin_trial(decision.pool_tuple, decision, reading)
        self._last = decision

    def _begin_anew(self) -> None:
        """Another tuner has begun: of what the one before has verified it knows no workload."""
        self._trial, self._stood, self._last = None, [], None
        self._forget()

    def close(self) -> None:
        """Books what is left when the log ends."""
        requests, slope = self._under_gain
        self.gained = self.gained.plus(requests, slope * math.sqrt(self._variance))
        self._under_gain = (0.0, 0.0)

    def _take(self, reading: Reading, observation: Observation, last: Decision | None) -> None:
        in_force = observation.in_force
        tells = not observation.hindrances and reading.throughput_per_s > 0.0  # as the state machine takes windows
        if self._trial is not None and last is not None and last.state is State.TRIAL and in_force == self._trial.next:
            if tells:
                self._trial = self._trial.with_reading(reading)
            elif in_force == self._trial.candidate:
                self._stood.append(reading)  # it has cost what it has cost, and says nothing of how windows scatter
        elif self._trial is not None and last is not None and last.state is State.VERIFY:
            self._stood.append(reading)
        elif tells and last is not None and in_force == last.incumbent:
            self._steady = [*self._steady, reading][-LATEST:]
        if last is None or in_force != last.incumbent or not self._gain:
            return
        self.judged += 1
        done = reading.throughput_per_s * reading.seconds
        requests, slope = self._under_gain
        self._under_gain = requests + done * -math.expm1(-self._gain), slope + done * math.exp(-self._gain)

    def _begin_trial(self, candidate: PoolTuple, decision: Decision, before: Reading) -> None:
        self.trials += 1
        self.most_lost += decision.most_lost
        noise = noise_of([*self._steady, before][-LATEST:])
        self._stood = []
        self._trial = PairedTrial(before=decision.incumbent, candidate=candidate, noise=noise, befores=(before,))

    def _end_trial(self, decision: Decision) -> None:
        trial, self._trial = self._trial, None
        assert trial is not None
        kept = decision.incumbent == trial.candidate
        if not trial.befores or not (trial.candidates or self._stood):
            return
        gain, error = trial.gain() if trial.candidates else (0.0, trial.noise)
        beside = sum(each.throughput_per_s for each in trial.befores) / len(trial.befores)
        seconds = sum(each.seconds for each in (*trial.candidates, *self._stood))
        self.lost = self.lost.plus(trial.lost_requests(self._stood), error * beside * seconds)
        self._steady = list(self._stood) if kept else [*trial.befores][-LATEST:]
        if kept:
            self.kept += 1
            self.close()
            self._gain, self._variance = self._gain + gain, self._variance + error * error

    def _forget(self) -> None:
        """Under another workload, or after somebody else has set a tuple, nothing is known of what it brings."""
        self.close()
        self._gain, self._variance, self._steady = 0.0, 0.0, []
