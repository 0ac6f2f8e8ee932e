"""The loop that acts on what is decided: sets, measures, asks, and survives a server that is gone for a while."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from poolpilot.env.interrupts import Interrupts
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.measurement.settling import settle
from poolpilot.env.objective import Objective
from poolpilot.env.server import WindowSource
from poolpilot.env.tuning.target import Target
from poolpilot.errors import (
    CountersResetError,
    LostServerError,
    ServerError,
    SettingError,
    TupleChangedError,
    in_words,
)
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Predictor
from poolpilot.serve.tuner.caution import KeptCaution
from poolpilot.serve.tuner.clock import Clock, clock_of
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.known.kept_workloads import KeptWorkloads
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import (
    Challenge,
    Observation,
    Proposal,
    Reading,
    beside_the_pool,
)
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.outside import Outside
from poolpilot.serve.tuner.tried import OnTried, Tried

REACH_AGAIN_EVERY_S = 1.0
REACH_AGAIN_LATER_EVERY_S = 5.0
"""Once a server was gone for a minute: each attempt is a line of the log, and an outage must not push the rest out."""

LATER_S = 60.0

LONGEST_WINDOW_S = 60.0
"""Up to so long a window becomes under a quiet load, until it has the requests that it must have."""

MOVING = (State.TRIAL, State.VERIFY, State.ROLL_BACK)
"""States in which another tuple than the verified one may be in force."""

OnDecision = Callable[[Observation, Decision], None]
"""Is told of every decision."""

Shadow = Callable[[Sequence[Window], KnobSpace, Objective, Proposal], Challenge]
"""What a challenger makes of windows of which the champion has made a proposal."""


class Acted(NamedTuple):
    """What came of setting what was decided.

    Attributes:
        refused: Why the server did not take it; None where it did, or nothing was to be set.
        overtaken: Whether somebody had set another tuple by then, and nothing was set: the next observation says so.
    """

    refused: str | None = None
    overtaken: bool = False


@dataclass
class TunerLoop:
    """The tuner of one server.

    Attributes:
        target: The server.
        predictor: What proposes tuples.
        rules: What is allowed.
        measurement: How long a window lasts, and what settles before it.
        outside: What speaks to the tuner from outside.
        log: Where decisions are kept; None keeps none.
        on_decision: Is told of every decision.
        clock: The time; that of the server if None.
        kept: Where workloads that were here before are kept; None knows of none.
        on_tried: Is told of every trial that is over.
        shadow: What another predictor would have proposed, beside a proposal; None watches none.
        rules_anew: What is allowed on the server as it is now, which may take less than before; None keeps the rules.
        wary: Where it is kept what outlives this tuner, should it die; None begins without.

    Raises:
        SettingError: The server only replays windows.
        StoreError: What is kept cannot be read.
    """

    target: Target
    predictor: Predictor
    rules: Rules
    measurement: MeasurementSettings = field(default_factory=MeasurementSettings)
    outside: Outside = field(default_factory=Outside)
    log: DecisionLog | None = None
    on_decision: OnDecision = lambda _observation, _decision: None
    clock: Clock | None = None
    kept: KeptWorkloads | None = None
    on_tried: OnTried = lambda _tried: None
    shadow: Shadow | None = None
    rules_anew: Callable[[], Rules] | None = None
    wary: KeptCaution | None = None

    def __post_init__(self) -> None:
        if isinstance(self.target.server, WindowSource):
            raise SettingError(f"{self.target.name} replays windows and has no time to wait: tune one that counts")
        if self.log is not None:
            self.log.begin_file(self.rules)
        self._clock = self.clock or clock_of(self.target.server)
        in_force = self.target.server.tuple_in_force()
        known = KnownWorkloads() if self.kept is None else self.kept.read()
        self.memory = self._with_caution(Memory.begin(in_force, self._clock.at_s(), known))
        self.decision = self.memory.decision("the tuner begins")
        self._verified = self._verified_beside(in_force)
        self._seen = in_force  # what the latest decision was made on
        self._windows: list[Window] = []  # of the workload in force, the latest of each tuple, the tuple in force last
        self._firsts: list[Window] = []  # the latest of the tuple that this workload was met under
        self._workload = self.memory.workload
        self._ends_s = math.inf  # of the tuning
        self._lost_s: float | None = None  # since when the server is gone
        self.found_by_person = False
        """Whether a person has set what the tuner began with last (`Memory.initial`), and no restart of the server."""
        self._restarted = False  # and no decision knows yet
        self._is_owed = False  # the incumbent was not in force yet when it was noted
        self._digest = ""  # of what proposed last, and with it the goal of the steps since
        self._untold: tuple[Tried, int] | None = None  # a trial that is over, and the number of its workload

    def run(self, horizon_s: float | None = None) -> None:
        """Tunes until the horizon, or until it is interrupted: in a window at once, else once it has been decided.

        Args:
            horizon_s: Seconds; None is for good.

        Raises:
            KeyboardInterrupt: A person or a supervisor has ended it.
            JournalError: The journal can no longer be written, so nothing more may be set.
        """
        self._ends_s = math.inf if horizon_s is None else horizon_s
        try:
            with Interrupts() as interrupts:
                while horizon_s is None or self._clock.at_s() < horizon_s:
                    self.turn()
                    interrupts.check()
        except KeyboardInterrupt:
            self._keep_caution(self.memory.but(trial=None))
            raise
        self._keep_caution(self.memory.but(trial=None))

    def turn(self) -> Decision:
        """Acts on the latest decision, looks, and decides anew.

        Raises:
            SettingError: The server takes nothing any more of what the settings allow.
            StoreError: What a person has approved cannot be used up.
        """
        observation = self._observation()
        if observation.in_force is not None:
            self._hold_to_today(observation.in_force, restarted=observation.restarted)
        before = self.memory
        self.memory, self.decision = decide(before, observation, self.rules)
        self._note_whose(before, observation)
        if self.log is not None:
            self.log.write(before, observation, self.decision)
        if self._has_begun_trial(before):
            self.outside.use_up()
        self._keep_caution(self.memory)
        self._note_verified(before, observation)
        if self.kept is not None and self.memory.known is not before.known:
            self.kept.write(self.memory.known)
        self._tell_of_trial(before)
        self.on_decision(observation, self.decision)
        return self.decision

    def _note_whose(self, before: Memory, observation: Observation) -> None:
        """Notes who has set what the tuner goes on from, as the state machine tells them apart."""
        if observation.in_force is None:
            return
        if observation.restarted:
            self.found_by_person = False
        elif observation.changed_by_others or not before.has_set(observation.in_force):
            self.found_by_person = True

    def _with_caution(self, memory: Memory) -> Memory:
        """What is remembered at the beginning, with what a tuner before has left to be wary of."""
        if self.wary is not None:
            memory = self.wary.read().onto(memory, self._clock.unix_s(), self.rules.guard)
            self._keep_caution(memory)
        return memory

    def _keep_caution(self, memory: Memory) -> None:
        """Keeps what outlives this tuner; `memory` is without a trial once it ends in an orderly way."""
        if self.wary is not None:
            self.wary.keep(memory, self._clock.at_s(), self._clock.unix_s())

    def _hold_to_today(self, in_force: PoolTuple, *, restarted: bool) -> None:
        """Takes the rules of the server as it is now: a restart, or who sets its limit of threads, may change them.

        What the server before a restart has verified says nothing about the one that was started since.
        """
        rules = self.rules if self.rules_anew is None else self.rules_anew()
        changed, self.rules = rules != self.rules, rules
        if changed and self.log is not None:
            self.log.begin_file(rules)
        if restarted:
            self._verified = self._verified_beside(in_force)
        elif changed:
            still = {each for each in self._verified if rules.envelope.has_threads_for(each)}
            self._verified = still | self._verified_beside(self.decision.incumbent)

    def _verified_beside(self, in_force: PoolTuple) -> set[PoolTuple]:
        """The tuple in force, and what was verified for known workloads within the rules of today."""
        earlier = (in_force.with_core(each.best.core) for each in self.memory.known.entries)
        return {in_force, *(each for each in earlier if self.rules.envelope.allows(each))}

    def _has_begun_trial(self, before: Memory) -> bool:
        """Whether what was just decided is another trial than the one in progress, if there was one."""
        trial = self.memory.trial
        return trial is not None and (before.trial is None or before.trial.candidate != trial.candidate)

    def _note_verified(self, before: Memory, observation: Observation) -> None:
        """Notes what is the beginning from now on; one that is not in force yet comes back next, or should we die."""
        incumbent = self.decision.incumbent
        if self._has_come_to_rest(before, observation):
            self.target.restoration.commit(incumbent)
            self._is_owed = False
        elif before.incumbent != incumbent:
            self.target.restoration.return_to(incumbent)
            self._is_owed = True
        else:
            return
        self._verified.add(incumbent)

    def _has_come_to_rest(self, before: Memory, observation: Observation) -> bool:
        """Whether a trial is over, or another tuple is the incumbent, and that one is in force."""
        changed = before.incumbent != self.decision.incumbent
        ended = before.state in MOVING and self.decision.state not in MOVING
        return (changed or ended or self._is_owed) and observation.in_force == self.decision.incumbent

    def _tell_of_trial(self, before: Memory) -> None:
        """Tells of a trial once it is known what ended it; where that was another workload, nobody is told."""
        self._untold = self._ended_trial(before) or self._untold
        if self._untold is None or self.memory.blamed is not None:
            return
        (tried, workload), self._untold = self._untold, None
        if workload == self.memory.workload:
            self.on_tried(tried)

    def _ended_trial(self, before: Memory) -> tuple[Tried, int] | None:
        """A trial that is over, with the number of its workload, where its windows are still there.

        No model has proposed what was found at first, where steps began, or what was verified on another day.
        """
        trial = before.trial
        if trial is None or (self.memory.trial is not None and self.memory.trial.candidate == trial.candidate):
            return None
        latest = {window.pool_tuple: window for window in self._windows}
        if trial.before not in latest or trial.candidate not in latest:
            return None
        kept = self.memory.incumbent == trial.candidate
        proposed = not before.backward and before.recall is None
        digest = self._digest if proposed else ""
        return Tried(latest[trial.before], latest[trial.candidate], kept, digest), before.workload

    def _observation(self) -> Observation:
        try:
            was_lost = self._lost_s is not None
            if was_lost:
                self._restarted = self.target.restoration.reach_again() or self._restarted
                self._lost_s = None
            observation = self._reached(self._restarted, was_lost=was_lost)
            self._restarted = False
            return observation
        except LostServerError as error:
            self._lost_s = self._clock.at_s() if self._lost_s is None else self._lost_s
            return self._gone(str(error))
        except ServerError as error:
            if self._lost_s is None:
                raise
            gone_s = self._clock.at_s() - self._lost_s
            time.sleep(REACH_AGAIN_EVERY_S if gone_s < LATER_S else REACH_AGAIN_LATER_EVERY_S)
            return self._gone(str(error))

    def _gone(self, reason: str) -> Observation:
        hindrances = (Hindrance(reason),)
        return Observation(at_s=self._clock.at_s(), unix_s=self._clock.unix_s(), in_force=None, hindrances=hindrances)

    def _reached(self, restarted: bool, *, was_lost: bool) -> Observation:
        window, acted, changed = None, Acted(), False
        reset: tuple[Hindrance, ...] = ()
        try:
            acted = acted if restarted else self._acted()
            with Interrupts(patient=False):
                if acted.refused is None:
                    window = observe(self.target.server, self._window_s()).window
                else:  # what is refused is not asked for without a pause
                    self.target.server.run_for(self._window_s())
        except TupleChangedError:  # while it was lost a keeper or a lease may have brought back the incumbent
            changed = not was_lost
        except CountersResetError as error:  # over a connection that no restart has ended
            reset = (Hindrance(str(error)),)
        self._seen = in_force = self.target.server.tuple_in_force()
        reading = None if window is None else Reading.of(window, self.target.objective)
        hindrances = (*reset, *self._hindrances(window))
        kept = None if window is None or beside_the_pool(hindrances) else replace(window, disturbances=())
        proposal = None if kept is None else self._proposal(kept, ask=not hindrances)
        approval = self.outside.approved()
        return Observation(
            at_s=self._clock.at_s(),
            unix_s=self._clock.unix_s(),
            in_force=in_force,
            reading=reading,
            proposal=proposal,
            challenge=self._challenge(proposal),
            hindrances=hindrances,
            kill=self.outside.killed(),
            approved=approval.text,
            unread_approval=approval.fault,
            restarted=restarted,
            refused=acted.refused,
            overtaken=acted.overtaken,
            changed_by_others=changed,
        )

    def _hindrances(self, window: Window | None) -> tuple[Hindrance, ...]:
        """What goes on now, and what went on in the course of the window beside the workload."""
        during = () if window is None else beside_the_pool(window.disturbances)
        return tuple(dict.fromkeys((*during, *self.outside.hindrances())))

    def _acted(self) -> Acted:
        """Sets what was decided."""
        wanted, server = self.decision.pool_tuple, self.target.server
        if wanted is None:
            return Acted()
        try:
            in_force = server.tuple_in_force()
            if in_force == wanted:
                return Acted()
            if in_force != self._seen:
                return Acted(overtaken=True)
            self._check(wanted)
            applied = server.apply(wanted)
            with Interrupts(patient=False):
                settle(server, applied, self.measurement)
        except (LostServerError, TupleChangedError):
            raise
        except (SettingError, ServerError) as error:
            return Acted(refused=str(error))
        return Acted()

    def _check(self, wanted: PoolTuple) -> None:
        """The envelope once more, apart from the state machine: what was verified, or a step from it."""
        if wanted not in self._verified and wanted != self.decision.incumbent:
            self.rules.envelope.check(self.decision.incumbent, wanted)

    def _challenge(self, proposal: Proposal | None) -> Challenge | None:
        """What the challenger makes of the same windows; it may fail, and nothing depends on it."""
        if self.shadow is None or proposal is None:
            return None
        return self.shadow(self._windows, self._knobs(), self.target.objective, proposal)

    def _knobs(self) -> KnobSpace:
        return self.rules.envelope.for_proposals(self.target.server.knobs, self.decision.incumbent)

    def _window_s(self) -> float:
        """Seconds of the next window: longer ones under a quiet load, until they have enough requests."""
        usual_s, pace = self.measurement.window_for(self.target.server.tuple_in_force()), self.rules.pace
        rate_per_s = self.memory.baseline[-1].throughput_per_s if self.memory.baseline else 0.0
        if rate_per_s <= 0.0:
            return usual_s
        left_s = self._ends_s - self._clock.at_s()
        return max(usual_s, min(pace.least_requests / rate_per_s, LONGEST_WINDOW_S, left_s))

    def _proposal(self, window: Window, *, ask: bool) -> Proposal | None:
        """What the predictor proposes where it is asked; the windows of this workload are kept for it."""
        if self.decision.workload != self._workload:
            self._workload, self._windows, self._firsts = self.decision.workload, [], []
        if not self._firsts or window.pool_tuple == self._firsts[0].pool_tuple:
            self._firsts = [*self._firsts, window][-2 * self.rules.pace.baseline_windows :]
        self._windows = with_latest(self._windows, window)
        if len(self._windows) > 1:
            self._windows[0] = usual(self._firsts)
        if not ask or not self.decision.ask or window.throughput_per_s <= 0.0:
            return None
        objective = self.target.objective
        try:
            prediction = self.predictor.predict(self._windows, self._knobs(), objective)
            proposal = Proposal.of(prediction, objective.value(window) - objective.value(self._windows[0]))
        except Exception as error:  # whatever a predictor gets wrong, the pool is looked after
            return Proposal(
                pool_tuple=window.pool_tuple, abstained=True, reason=f"the predictor fails: {in_words(error)}"
            )
        self._digest = prediction.model_digest
        return proposal


def usual(windows: Sequence[Window]) -> Window:
    """Of windows of one tuple that of the median of rows read: floors are shares of it, and a report may run in one.

    Of those alike in that a later one comes first.
    """
    by_rows = sorted(reversed(windows), key=lambda each: each.indicators.get(ROWS_READ_PER_S, 0.0))
    return by_rows[(len(windows) - 1) // 2]


def with_latest(windows: Sequence[Window], latest: Window) -> list[Window]:
    """One window of each tuple, the latest last, and before them that of the first, since floors are shares of it."""
    if not windows:
        return [latest]
    first = windows[0]
    others = [each for each in windows[1:] if each.pool_tuple not in (first.pool_tuple, latest.pool_tuple)]
    return [first, *others, latest] if others or first.pool_tuple != latest.pool_tuple else [latest]
