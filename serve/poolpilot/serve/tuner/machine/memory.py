"""All that the tuner remembers between two observations: with it and the next one a decision can be made again."""

import math

from pydantic import BaseModel, ConfigDict

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads, WorkloadRatios, sight_of
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.paired_trial import Z_ONE_SIDED_95, PairedTrial
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

HOUR_S = 3600.0


class Journey(BaseModel):
    """Steps on the way to a tuple that lies further off than one step.

    Attributes:
        origin: The incumbent that it began from.
        steps: The tuples on the way, which were no worse than the one before.
        gain: Sum of the steps' gains in ln goodput.
        variance: Sum of their variances.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    origin: PoolTuple
    steps: tuple[PoolTuple, ...] = ()
    gain: float = 0.0
    variance: float = 0.0

    def with_step(self, pool_tuple: PoolTuple, gain: float, error: float) -> "Journey":
        """The journey after a further step."""
        steps = (*self.steps, pool_tuple)
        return Journey(origin=self.origin, steps=steps, gain=self.gain + gain, variance=self.variance + error * error)

    @property
    def shown_better(self) -> bool:
        """Whether the steps together are shown to gain."""
        return self.gain - Z_ONE_SIDED_95 * math.sqrt(self.variance) > 0.0


class Refusal(BaseModel):
    """A tuple that was rolled back, and until when it is not tried again; for as long as the workload lasts if None.

    Attributes:
        pool_tuple: The tuple.
        until_s: When it may be tried again.
        completed_more: Whether more requests were completed under it, so that latency alone spoke against it.
        whatever_runs: Whether it is refused under any workload: the server was lost under it, or did not take it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pool_tuple: PoolTuple
    until_s: float | None = None
    completed_more: bool = False
    whatever_runs: bool = False


class Memory(BaseModel):
    """What is remembered.

    Attributes:
        initial: The tuple that the tuner found, or that a person has set since.
        incumbent: The tuple that comes back when anything goes wrong.
        state: What the tuner is doing.
        expected: The tuple that should be in force.
        lately: The tuple that was tried last, while it may still be in force; None where it cannot be.
        cleans_up: Whether what a person has set is coming into force without what was being tried when they set it.
        began_s: When watching this workload began.
        baseline: Latest windows of the incumbent.
        watched: Latest windows that were watched, whichever workload they were taken for.
        trial: The trial in progress, or that is being verified.
        backward: Whether that trial is of an earlier tuple, to see whether it would do better.
        goal: The tuple that steps lead to; None where none was proposed.
        held_on: Windows in which a trial has held on while it is being verified.
        risen: How far ln latency under the incumbent is above that of the initial tuple of this workload, by trials.
        gained: How far ln goodput under the incumbent is above that, by trials; by completions where it is a time.
        aftermath: What a trial that was rolled back may have left behind, while that is not known; None where it is.
        rows_lost: How far ln rows read a second under the incumbent are below those at first, by trials.
        rows_variance: Variance of `rows_lost` by chance.
        worse: Windows in a row of such a trial that were worse than those before it.
        other: Windows in a row that are of another workload; negative where goodput fell.
        journey: Steps since the last tuple that was shown better than what it replaced.
        check_initial: Whether another workload has come, under which the tuple that was found may do better.
        changed_s: When the incumbent last changed; None before.
        replaced: The tuple that it replaced.
        replaced_risen: What `risen` was under that.
        replaced_gained: What `gained` was under that.
        replaced_rows_lost: What `rows_lost` was under that.
        replaced_rows_variance: What `rows_variance` was under that.
        pending: A step that waits for leave: hours, approval or the change budget.
        leads_round: Whether the step that the predictor's answer led to is to lead round one that was only too slow.
        trials_s: When trials began, within the last hour.
        roll_backs_s: When trials were rolled back, within the last hour.
        openings: How often the circuit was opened since a trial was shown to be better.
        half_open_until_s: Until when the first trial that is rolled back opens the circuit again, as another workload
            came while it was open; None where it is open or closed.
        opened_again: Whether another workload has had that chance since the circuit was closed.
        exposed: Share of the longest trial that the last one lasted before it was rolled back.
        refusals: What is not to be tried again for a while.
        wait_until_s: When cooling down, standing down or an open circuit ends; None is never.
        paused: Which of them it is, while what was found at first is tried in it.
        circuit_ends_s: When an open circuit ends that a stand-down has taken the place of; None where none has.
        rolled_back_under: What the workload looked like around the last trial that was rolled back; nothing once
            another one has come.
        ways_round: Steps under this workload that were to lead round one that was only too slow.
        was_rolled_back: Whether the incumbent is coming back since a trial was rolled back, and not since one was lost.
        blamed: The window for which a tuple was rolled back at once; None once it is known whether going back helped.
        starved_by: How far ln rows read a second had fallen under it, where it was rolled back for that.
        asked_s: When the predictor was last asked.
        workload: Number of the workload.
        exploring: Whether the trial in progress, or the way that it is part of, is only to learn from.
        explored: Such ways in a row that have failed, the one in progress included.
        returning: Number of the known workload that was in force when the server was restarted; None once its tuple
            was tried again, or where there was none.
        lost_requests: Requests that trials have cost so far; negative where they gained.
        known: Workloads that were here before.
        present: Number of the workload in force among them; None where it is not known, or not yet.
        sights: What the workload in force looked like so far.
        recall: Number of the known workload whose tuple is being tried, or waits for leave; None where none is.
        cpus: Processors that the server might use when it was last seen; None where they are not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    initial: PoolTuple
    incumbent: PoolTuple
    state: State = State.WATCH
    expected: PoolTuple
    lately: PoolTuple | None = None
    cleans_up: bool = False
    began_s: float
    baseline: tuple[Reading, ...] = ()
    watched: tuple[Reading, ...] = ()
    trial: PairedTrial | None = None
    backward: bool = False
    goal: PoolTuple | None = None
    held_on: tuple[Reading, ...] = ()
    risen: float = 0.0
    gained: float = 0.0
    aftermath: Aftermath | None = None
    rows_lost: float = 0.0
    rows_variance: float = 0.0
    worse: int = 0
    other: int = 0
    journey: Journey | None = None
    check_initial: bool = False
    changed_s: float | None = None
    replaced: PoolTuple | None = None
    replaced_risen: float = 0.0
    replaced_gained: float = 0.0
    replaced_rows_lost: float = 0.0
    replaced_rows_variance: float = 0.0
    pending: PoolTuple | None = None
    leads_round: bool = False
    trials_s: tuple[float, ...] = ()
    roll_backs_s: tuple[float, ...] = ()
    openings: int = 0
    half_open_until_s: float | None = None
    opened_again: bool = False
    exposed: float = 1.0
    refusals: tuple[Refusal, ...] = ()
    wait_until_s: float | None = None
    paused: State = State.COOL_DOWN
    circuit_ends_s: float | None = None
    rolled_back_under: tuple[WorkloadRatios, ...] = ()
    ways_round: int = 0
    was_rolled_back: bool = False
    blamed: Reading | None = None
    starved_by: float | None = None
    asked_s: float | None = None
    workload: int = 0
    exploring: bool = False
    explored: int = 0
    returning: int | None = None
    lost_requests: float = 0.0
    known: KnownWorkloads = KnownWorkloads()
    present: int | None = None
    sights: tuple[WorkloadRatios, ...] = ()
    recall: int | None = None
    cpus: float | None = None

    @classmethod
    def begin(cls, in_force: PoolTuple, at_s: float, known: KnownWorkloads | None = None) -> "Memory":
        """What is known at the beginning: the tuple in force, and perhaps workloads of earlier days."""
        return cls(
            initial=in_force, incumbent=in_force, expected=in_force, began_s=at_s, known=known or KnownWorkloads()
        )

    def sight(self) -> WorkloadRatios:
        """What the workload in force looks like under the tuple that is verified."""
        return sight_of(self.incumbent, (each.ratios for each in self.baseline))

    @property
    def failed_explorations(self) -> int:
        """Ways in a row that were only to learn from and have failed."""
        return self.explored - self.exploring

    @property
    def half_open(self) -> bool:
        """Whether one trial that is rolled back opens the circuit again."""
        return self.half_open_until_s is not None

    def is_paused(self, at_s: float) -> bool:
        """Whether a pause that ends by itself goes on."""
        return self.wait_until_s is not None and at_s < self.wait_until_s

    def circuit_open_until_s(self, at_s: float) -> float | None:
        """Until when the circuit is open, whatever a person says or is tried meanwhile; None where it is closed."""
        is_open = State.OPEN_CIRCUIT in (self.state, self.paused)
        ends_s = self.wait_until_s if self.circuit_ends_s is None else self.circuit_ends_s
        return ends_s if is_open and ends_s is not None and ends_s > at_s else None

    def forgotten(self, at_s: float) -> "Memory":
        """Without what is over by now."""
        closed = self.half_open_until_s is not None and self.half_open_until_s <= at_s
        return self.model_copy(
            update={
                "half_open_until_s": None if closed else self.half_open_until_s,
                "opened_again": self.opened_again and not closed,
                "trials_s": tuple(each for each in self.trials_s if at_s - each < HOUR_S),
                "roll_backs_s": tuple(each for each in self.roll_backs_s if at_s - each < HOUR_S),
                "refusals": tuple(each for each in self.refusals if each.until_s is None or each.until_s > at_s),
            }
        )

    def has_set(self, pool_tuple: PoolTuple) -> bool:
        """Whether a tuple is of the tuner's making; where a change broke off half way, it has knobs of two."""
        ours = [each.as_dict() for each in (self.expected, self.incumbent, self.lately or self.incumbent)]
        return all(value in [each[name] for each in ours] for name, value in pool_tuple.as_dict().items())

    def refuses(self, pool_tuple: PoolTuple) -> bool:
        """Whether a tuple is not to be tried for now."""
        return any(each.pool_tuple == pool_tuple for each in self.refusals)

    def only_slowed(self, pool_tuple: PoolTuple) -> bool:
        """Whether a tuple is not to be tried for its latency alone."""
        return any(each.pool_tuple == pool_tuple and each.completed_more for each in self.refusals)

    def but(self, **changes: object) -> "Memory":
        """The same with some fields changed."""
        return self.model_copy(update=changes)

    def decision(self, reason: str, *, routine: bool = False, ask: bool = False, most_lost: float = 0.0) -> Decision:
        """To have in force what is expected to be, for a reason."""
        return Decision(
            state=self.state,
            pool_tuple=self.expected,
            incumbent=self.incumbent,
            reason=reason,
            routine=routine,
            ask=ask,
            would=self.pending,
            workload=self.workload,
            most_lost=most_lost,
        )
