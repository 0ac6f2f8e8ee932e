"""The loop on a simulated server, and on one that is lost, refuses and is meddled with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from poolpilot.env.interrupts import Interrupts
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.backends import draw
from poolpilot.env.tuning.target import Target
from poolpilot.errors import (
    CountersResetError,
    LostServerError,
    ServerError,
    SettingError,
    TupleChangedError,
)
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.serve.tuner.caution import KeptCaution
from poolpilot.serve.tuner.clock import ServerClock
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.decision_replay import replayed
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.known.kept_workloads import KeptWorkloads
from poolpilot.serve.tuner.machine.decision import Decision, Mode, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.outside import Outside
from poolpilot.serve.tuner.tried import Tried
from poolpilot.serve.tuner.tuner_loop import TunerLoop, usual, with_latest

MEASUREMENT = MeasurementSettings(settle_s=0.2, window_s=1.0)
PACE = PaceSettings(
    observe_for_s=2.0, baseline_windows=3, least_pairs=2, most_pairs=3, verify_windows=2, least_requests=0
)
STUCK = Hindrance("the pool is stuck: 9 requests queue", HindranceKind.STUCK)


@dataclass
class Wanting:
    """Always proposes one tuple, or fails."""

    pool_tuple: PoolTuple
    error: Exception | None = None
    asked: list[Sequence[Window]] = field(default_factory=list)

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        self.asked.append(windows)
        if self.error is not None:
            raise self.error
        return Prediction(self.pool_tuple, windows[-1].pool_tuple, False, ("told so",), "digest")


@dataclass
class RecordedRestoration:
    """Keeps what is committed; a lost server can be reached at the third attempt."""

    committed: list[PoolTuple] = field(default_factory=list)
    returns: list[PoolTuple] = field(default_factory=list)
    attempts: int = 0
    restarted: bool = False

    def commit(self, pool_tuple: PoolTuple) -> None:
        self.committed.append(pool_tuple)

    def return_to(self, pool_tuple: PoolTuple) -> None:
        self.returns.append(pool_tuple)

    def reach_again(self) -> bool:
        self.attempts += 1
        if self.attempts < 3:
            raise ServerError("refused")
        return self.restarted

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a loop does not call {name}")


class FailingServer(SimulatedServer):
    """Fails once, at a call that a test names."""

    fails: dict[str, Exception]

    def snapshot(self) -> Any:
        self._fail("snapshot")
        return super().snapshot()

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        self._fail("apply")
        return super().apply(pool_tuple)

    def _fail(self, name: str) -> None:
        if error := self.__dict__.setdefault("fails", {}).pop(name, None):
            raise error


MakeLoop = Callable[..., TunerLoop]


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.REACH_AGAIN_EVERY_S", 0.0)


def loop_on(server: SimulatedServer, wanted: PoolTuple, mode: Mode = Mode.APPLY, **others: Any) -> TunerLoop:
    guard = GuardSettings(cool_down_s=2.0)
    rules = Rules(mode, guard, PACE, Envelope.of(guard, server.knobs))
    target = Target(server, Objective(), "a pool", RecordedRestoration())
    return TunerLoop(target, others.pop("predictor", Wanting(wanted)), rules, MEASUREMENT, **others)


@pytest.fixture
def server() -> Any:
    with FailingServer(draw("page_faults", 3)) as opened:
        yield opened


def test_it_reaches_a_good_tuple_and_commits_every_step(server: FailingServer) -> None:
    loop = loop_on(server, PoolTuple(8, 3, 500))
    loop.run(90.0)
    assert server.tuple_in_force() == loop.memory.incumbent == PoolTuple(8, 3, 500)
    committed = loop.target.restoration.committed  # type: ignore[attr-defined]
    assert [each.pool_size for each in dict.fromkeys(committed)] == [2, 4, 8]


def test_predictor_sees_the_windows_of_this_workload_and_the_one_in_force_last(server: FailingServer) -> None:
    predictor = Wanting(PoolTuple(4, 3, 500))
    loop_on(server, PoolTuple(4, 3, 500), predictor=predictor).run(60.0)
    first, last = predictor.asked[0], predictor.asked[-1]
    assert [window.pool_tuple.pool_size for window in first] == [1]
    assert [window.pool_tuple.pool_size for window in last][-1] == 4
    assert len({window.pool_tuple for window in last}) == len(last) > 1


def test_window_that_floors_are_shares_of_stays_first() -> None:
    first = observe(CurveServer([(1, 100), (16, 1200)], cpus=2), 1.0).window
    further, again = replace(first, pool_tuple=PoolTuple(8, 3, 500)), replace(first, duration_s=2.0)
    assert with_latest([], first) == [first]
    assert with_latest([first], again) == [again]
    assert with_latest([first, further], again) == [first, further, again]
    assert with_latest([first, further, again], further) == [first, further]


def test_a_report_in_one_window_is_not_what_floors_are_shares_of() -> None:
    window = observe(CurveServer([(1, 100), (16, 1200)], cpus=2), 1.0).window
    reading = [replace(window, indicators={ROWS_READ_PER_S: rows}) for rows in (2e5, 3e6, 1.9e5)]
    assert usual(reading) == reading[0]
    assert usual(reading[:2]) == reading[0]
    shown = [replace(window, duration_s=float(seconds)) for seconds in (1, 2, 3)]
    assert usual(shown[:1]) == shown[0]
    assert usual(shown) in shown


def test_predictor_is_given_the_usual_window_of_the_first_tuple(
    server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = iter([1e5, 1e5, 9e6, *(1e5 for _ in range(1000))])
    monkeypatch.setattr(
        "poolpilot.serve.tuner.tuner_loop.observe",
        lambda server, seconds: SimpleNamespace(
            window=replace(observe(server, seconds).window, indicators={ROWS_READ_PER_S: next(rows)})
        ),
    )
    predictor = Wanting(PoolTuple(4, 3, 500))
    loop_on(server, PoolTuple(4, 3, 500), predictor=predictor).run(60.0)
    assert {asked[0].indicators[ROWS_READ_PER_S] for asked in predictor.asked if len(asked) > 1} == {1e5}


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.ADVISE])
def test_nothing_is_set_in_other_modes(server: FailingServer, mode: Mode) -> None:
    server.fails = {"apply": AssertionError("set")}
    loop = loop_on(server, PoolTuple(8, 3, 500), mode)
    loop.run(30.0)
    assert loop.target.restoration.committed == []  # type: ignore[attr-defined]


def test_decisions_of_a_run_replay(server: FailingServer, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "a pool")
    loop = loop_on(server, PoolTuple(8, 3, 500), log=log)
    loop.run(60.0)
    assert all(then == now for then, now in replayed(log.path))


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("place", ["snapshot", "apply"])
def test_lost_server_is_reached_again_and_what_was_tried_is_taken_back(
    server: FailingServer, place: str, restarted: bool
) -> None:
    loop = loop_on(server, PoolTuple(8, 3, 500))
    restoration = loop.target.restoration
    assert isinstance(restoration, RecordedRestoration)
    restoration.restarted = restarted
    while loop.turn().state is not State.TRIAL:
        pass
    server.fails = {place: LostServerError("gone")}
    assert loop.turn().pool_tuple is None
    while loop.turn().pool_tuple is None:
        pass
    assert restoration.attempts == 3
    loop.turn()
    assert server.tuple_in_force() == loop.memory.incumbent


def test_server_that_is_gone_for_long_is_tried_less_often(
    server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt is a line of the log: once a second they would push weeks of decisions out."""
    loop, pauses = loop_on(server, PoolTuple(2, 3, 500)), list[float]()
    assert isinstance(loop.target.restoration, RecordedRestoration)
    loop.target.restoration.attempts = -1000

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        server.run_for(seconds)

    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.time.sleep", sleep)
    loop.turn()
    server.fails = {"snapshot": LostServerError("gone")}
    for _ in range(80):
        loop.turn()
    assert pauses[0] == 1.0
    assert pauses[-1] == 5.0
    assert 55 <= pauses.count(1.0) <= 62


def test_counters_that_somebody_resets_cost_a_window_and_no_server(server: FailingServer) -> None:
    """Before, FLUSH THREAD_POOL_STATS was taken for a lost server, and what was tried was refused for an hour."""
    loop = loop_on(server, PoolTuple(4, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    server.fails = {"snapshot": CountersResetError("counter 'stalls' (9 to 1) fell between two snapshots")}
    decision = loop.turn()
    assert "fell between two snapshots" in decision.reason
    restoration = loop.target.restoration
    assert isinstance(restoration, RecordedRestoration)
    assert restoration.attempts == 0, "the connection is not opened again"
    loop.run(loop._clock.at_s() + 1000.0)
    assert loop.memory.incumbent == PoolTuple(4, 3, 500)


@pytest.mark.usefixtures("no_pause")
def test_restarted_server_is_held_to_what_it_takes_now(server: FailingServer, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "a pool")
    loop = loop_on(server, PoolTuple(8, 3, 500), log=log)
    narrow = replace(loop.rules, envelope=replace(loop.rules.envelope, most_threads=16))
    while loop.turn().incumbent != PoolTuple(8, 3, 500):
        pass
    loop.rules_anew = lambda: narrow
    restoration = loop.target.restoration
    assert isinstance(restoration, RecordedRestoration)
    restoration.restarted, restoration.attempts = True, 3
    SimulatedServer.apply(server, PoolTuple(2, 3, 500))
    server.fails = {"snapshot": LostServerError("gone")}
    for _ in range(40):
        loop.turn()
    assert server.tuple_in_force() == loop.memory.incumbent == PoolTuple(4, 3, 500)
    loop.decision = loop.decision.model_copy(update={"pool_tuple": PoolTuple(8, 3, 500)})
    loop.turn()
    assert server.tuple_in_force() == PoolTuple(4, 3, 500)
    for path in (tmp_path / "decisions.1.jsonl", log.path):
        assert all(then == now for then, now in list(replayed(path))[:-1])


def test_limit_of_threads_is_that_of_now(server: FailingServer, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "a pool")
    loop = loop_on(server, PoolTuple(8, 3, 500), log=log)
    wide, narrow = loop.rules, replace(loop.rules, envelope=replace(loop.rules.envelope, most_threads=8))
    loop.rules_anew = lambda: wide
    while loop.turn().pool_tuple != PoolTuple(4, 3, 500):
        pass
    loop.rules_anew = lambda: narrow
    loop.run(60.0)
    assert server.tuple_in_force() == loop.memory.incumbent == PoolTuple(2, 3, 500)
    for path in (tmp_path / "decisions.1.jsonl", log.path):
        assert all(then == now for then, now in replayed(path))
    loop.rules_anew = lambda: wide
    loop.run(500.0)
    assert server.tuple_in_force() == PoolTuple(8, 3, 500)


@pytest.mark.parametrize(
    ("tried", "digest"), [({}, "digest"), ({"backward": True}, ""), ({"recall": 1}, "")], ids=["step", "back", "recall"]
)
def test_try_is_told_with_what_proposed_it_and_that_nothing_did(
    server: FailingServer, tried: dict[str, object], digest: str
) -> None:
    told: list[Tried] = []
    loop = loop_on(server, PoolTuple(2, 3, 500), on_tried=told.append)
    while loop.turn().state is not State.TRIAL:
        pass
    loop.memory = loop.memory.but(**tried)
    while not told:
        loop.turn()
    assert [(each.after.pool_tuple.pool_size, each.model_digest) for each in told] == [(2, digest)]


@pytest.mark.parametrize(("began_anew", "kept"), [(0, [False]), (1, [])], ids=["its fault", "another workload"])
def test_try_is_told_once_it_is_known_what_ended_it(
    server: FailingServer, monkeypatch: pytest.MonkeyPatch, began_anew: int, kept: list[bool]
) -> None:
    told: list[Tried] = []
    predictor = Wanting(PoolTuple(2, 3, 500))
    loop = loop_on(server, predictor.pool_tuple, predictor=predictor, on_tried=told.append)
    while loop.turn().state is not State.TRIAL:
        pass
    blamed = loop.memory.but(blamed=Reading.of(predictor.asked[-1][-1], Objective()), trial=None)
    later = [blamed.but(blamed=None, workload=blamed.workload + began_anew), blamed]

    def decided(*_: object) -> tuple[Memory, Decision]:
        memory = later.pop()
        return memory, memory.decision("as the test has it")

    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.decide", decided)
    loop.turn()
    assert told == []
    loop.turn()
    assert [each.kept for each in told] == kept


def test_what_comes_back_is_noted_before_it_is_in_force(server: FailingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, who died right then left a tuple for verified that had just lost, and its keeper set it again."""
    loop = loop_on(server, PoolTuple(2, 3, 500))
    restoration = loop.target.restoration
    assert isinstance(restoration, RecordedRestoration)
    earlier = loop.memory.incumbent.with_core((3, 3, 500))

    def roll_back(memory: Memory, observation: Observation, _rules: Rules) -> tuple[Memory, Decision]:
        now = memory.but(incumbent=earlier, expected=earlier, state=State.ROLL_BACK)
        return now, now.decision(f"{observation.in_force} has lost its probation")

    with monkeypatch.context() as patched:
        patched.setattr("poolpilot.serve.tuner.tuner_loop.decide", roll_back)
        loop.turn()
    assert (restoration.returns, restoration.committed) == ([earlier], [])
    assert server.tuple_in_force() != earlier
    loop.turn()
    assert server.tuple_in_force() == earlier
    assert restoration.committed == [earlier], "what is in force now is the beginning"


def meddled_with(server: SimulatedServer, pool_tuple: PoolTuple) -> Callable[..., Any]:
    """A window in the course of which somebody sets a tuple."""

    def observed(*_: object) -> NoReturn:
        server.apply(pool_tuple)
        raise TupleChangedError("somebody else has set it")

    return observed


def test_a_person_who_undoes_a_try_ends_the_tuning(server: FailingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    incumbent = loop.memory.incumbent
    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.observe", meddled_with(server, incumbent))
    assert loop.turn().state is State.STAND_DOWN
    assert (loop.memory.incumbent, loop.found_by_person) == (server.tuple_in_force(), True) == (incumbent, True)


@pytest.mark.usefixtures("no_pause")
def test_what_a_keeper_has_brought_back_is_no_persons_change(
    server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.observe", meddled_with(server, loop.memory.incumbent))
    server.fails = {"apply": LostServerError("gone")}
    while loop.turn().pool_tuple is None:
        pass
    assert (loop.memory.state, loop.found_by_person) == (State.WATCH, False)


def test_what_went_on_within_a_window_hinders_though_it_is_over(
    server: FailingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, an ALTER TABLE that ended before its window did was blamed on what was being tried."""
    loop = loop_on(server, PoolTuple(2, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    observed = observe

    def disturbed(*arguments: Any) -> Any:
        seen = observed(*arguments)
        return replace(seen, window=replace(seen.window, disturbances=(Hindrance("a table is changed"), STUCK)))

    monkeypatch.setattr("poolpilot.serve.tuner.tuner_loop.observe", disturbed)
    decision = loop.turn()
    assert decision.reason == "nothing is changed now: a table is changed"
    assert loop.memory.roll_backs_s == ()
    assert loop.memory.refusals == ()


def test_try_whose_window_ends_with_a_stuck_pool_is_told_of_too(server: FailingServer) -> None:
    told: list[Tried] = []
    goes_on: list[Hindrance] = []
    outside = Outside(hindrances=lambda: tuple(goes_on))
    loop = loop_on(server, PoolTuple(2, 3, 500), outside=outside, on_tried=told.append)
    while loop.turn().state is not State.TRIAL:
        pass
    goes_on.append(STUCK)
    candidate = loop.decision.pool_tuple
    loop.turn()
    assert [(each.after.pool_tuple, each.kept) for each in told] == [(candidate, False)]


def test_tuple_that_the_server_refuses_is_not_tried_again(server: FailingServer) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    server.fails = {"apply": SettingError("too many threads")}
    decision = loop.turn()
    assert "too many threads" in decision.reason
    assert decision.pool_tuple == PoolTuple(1, 3, 500)
    assert loop.memory.refuses(PoolTuple(2, 3, 500))


@pytest.mark.parametrize("state", [State.TRIAL, State.VERIFY])
def test_what_a_person_sets_between_a_look_and_a_step_stays(server: FailingServer, state: State) -> None:
    loop, theirs = loop_on(server, PoolTuple(8, 3, 500)), PoolTuple(5, 3, 500)
    while loop.turn().state is not state:
        pass
    server.apply(theirs)
    assert (loop.found_by_person, loop.turn().state) == (False, State.STAND_DOWN)
    assert (server.tuple_in_force(), loop.found_by_person) == (loop.memory.incumbent, True) == (theirs, True)


def test_what_was_tried_goes_where_a_person_sets_another_knob_between_a_look_and_the_way_back(
    server: FailingServer,
) -> None:
    loop = loop_on(server, PoolTuple(8, 3, 500))
    while loop.turn().state is not State.TRIAL:
        pass
    while loop.decision.pool_tuple != loop.memory.incumbent or server.tuple_in_force() == loop.memory.incumbent:
        loop.turn()
    tried = server.tuple_in_force()
    server.apply(replace(tried, timer_interval_ms=100))
    assert loop.turn().state is State.STAND_DOWN
    loop.turn()
    assert server.tuple_in_force() == replace(tried, pool_size=1, timer_interval_ms=100) == loop.memory.incumbent


def test_approval_is_good_for_one_try(server: FailingServer, tmp_path: Path) -> None:
    loop = loop_on(server, PoolTuple(8, 3, 500), outside=Outside(approval_file=tmp_path / "approved"))
    loop.rules = replace(loop.rules, approval=True)
    (tmp_path / "approved").write_text("2,3,500")
    loop.run(30.0)
    assert loop.memory.incumbent == PoolTuple(2, 3, 500)
    assert loop.decision.would == PoolTuple(4, 3, 500)
    assert [path.name for path in tmp_path.iterdir()] == ["approved.used"]
    (tmp_path / "approved").write_text("(4, 3, 500)")
    while loop.turn().state is not State.TRIAL:
        pass
    ended = loop.memory.but(state=State.WATCH, trial=None, expected=loop.memory.incumbent)
    loop.memory, loop.decision = ended, ended.decision("as the test has it")
    loop.run(90.0)
    assert loop.memory.incumbent == PoolTuple(2, 3, 500), "the step waits for another approval"


def test_approval_that_cannot_be_read_is_in_the_reason(server: FailingServer, tmp_path: Path) -> None:
    loop = loop_on(server, PoolTuple(8, 3, 500), outside=Outside(approval_file=tmp_path))
    loop.rules = replace(loop.rules, approval=True)
    loop.run(30.0)
    assert loop.decision.would == PoolTuple(2, 3, 500)
    assert loop.decision.reason.endswith("; the file that would hold it cannot be read: Is a directory")


def test_envelope_is_asked_again_by_who_acts(server: FailingServer) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500))
    wrong = loop.decision.model_copy(update={"pool_tuple": PoolTuple(100, 3, 500)})
    loop.decision = wrong
    loop.turn()
    assert server.tuple_in_force() == PoolTuple(1, 3, 500)


def test_interrupt_waits_for_the_end_of_a_window(server: FailingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500))

    def interrupted(_self: Interrupts) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Interrupts, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.run()
    assert loop.memory.baseline


def test_replay_of_windows_cannot_be_tuned() -> None:
    rules = Rules(Mode.APPLY, GuardSettings(), PACE, Envelope.of(GuardSettings(), KnobSpace.stock(2)))
    recorded = RecordedServer(sample_sweeps("page_faults")[0])
    with recorded, pytest.raises(SettingError, match="tune one that counts"):
        TunerLoop(Target(recorded, Objective(), "a replay"), Wanting(PoolTuple(2, 3, 500)), rules)


def test_what_was_verified_is_kept_and_tried_in_one_move_by_the_next_tuner(
    server: FailingServer, tmp_path: Path
) -> None:
    best = PoolTuple(8, 3, 500)
    loop_on(server, best, kept=KeptWorkloads(tmp_path)).run(90.0)
    assert best in {each.best for each in KeptWorkloads(tmp_path).read().entries}
    with FailingServer(draw("page_faults", 3)) as later:
        log = DecisionLog(tmp_path, "a pool")
        loop = loop_on(later, PoolTuple(1, 3, 500), kept=KeptWorkloads(tmp_path), log=log)
        assert loop.turn().pool_tuple == best
        loop.run(30.0)
        assert later.tuple_in_force() == best
        assert all(then == now for then, now in replayed(log.path))


def test_what_is_kept_beyond_the_ranges_of_today_is_not_set(server: FailingServer, tmp_path: Path) -> None:
    loop_on(server, PoolTuple(8, 3, 500), kept=KeptWorkloads(tmp_path)).run(90.0)
    guard = GuardSettings(most_size=4)
    with FailingServer(draw("page_faults", 3)) as later:
        rules = Rules(Mode.APPLY, guard, PACE, Envelope.of(guard, later.knobs))
        target = Target(later, Objective(), "a pool", RecordedRestoration())
        loop = TunerLoop(target, Wanting(PoolTuple(1, 3, 500)), rules, MEASUREMENT, kept=KeptWorkloads(tmp_path))
        loop.decision = loop.decision.model_copy(update={"pool_tuple": PoolTuple(8, 3, 500)})
        loop.turn()
        assert later.tuple_in_force() == PoolTuple(1, 3, 500)


def dying_and_next(server: FailingServer, folder: Path, ends: Callable[[TunerLoop], object]) -> TunerLoop:
    """The tuner that begins a minute after another one was ended in the middle of a trial, on a server as it was."""
    best = PoolTuple(2, 3, 500)
    loop = loop_on(server, best, wary=KeptCaution(folder), clock=ServerClock(server, 1e9))
    while loop.turn().state is not State.TRIAL:
        pass
    ends(loop)
    server.apply(PoolTuple(1, 3, 500))
    return loop_on(server, best, wary=KeptCaution(folder), clock=ServerClock(server, 1e9 + 60.0))


def test_tuple_whose_try_has_ended_the_tuner_is_not_tried_again_at_once(server: FailingServer, tmp_path: Path) -> None:
    later = dying_and_next(server, tmp_path, TunerLoop.turn)
    seen: list[str] = []
    later.on_decision = lambda _observation, decision: seen.append(decision.reason)
    later.run(60.0)
    assert server.tuple_in_force() == PoolTuple(1, 3, 500)
    assert any("was rolled back not long ago" in reason for reason in seen)
    assert len(later.memory.trials_s) == 1


@pytest.mark.parametrize("by", ["a person", "its time"])
def test_tuner_that_is_ended_blames_nothing_that_it_was_trying(
    server: FailingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    def interrupted(_self: Interrupts) -> None:
        raise KeyboardInterrupt

    def ended(loop: TunerLoop) -> None:
        if by == "its time":
            loop.run(0.0)
            return
        with monkeypatch.context() as patched:
            patched.setattr(Interrupts, "check", interrupted)
            with pytest.raises(KeyboardInterrupt):
                loop.run()

    later = dying_and_next(server, tmp_path, ended)
    assert later.memory.refusals == ()
    later.run(60.0)
    assert server.tuple_in_force() == PoolTuple(2, 3, 500)


def test_what_is_kept_is_there_before_anything_is_set(server: FailingServer, tmp_path: Path) -> None:
    loop = loop_on(server, PoolTuple(2, 3, 500), wary=KeptCaution(tmp_path))
    while loop.turn().state is not State.TRIAL:
        assert KeptCaution(tmp_path).read().trying is None
    assert server.tuple_in_force() == PoolTuple(1, 3, 500)
    assert KeptCaution(tmp_path).read().trying == PoolTuple(2, 3, 500)
    while loop.turn().incumbent != PoolTuple(2, 3, 500):
        pass
    assert KeptCaution(tmp_path).read().trying is None


def test_windows_that_grow_end_with_the_tuning(server: FailingServer) -> None:
    """A window that waits for ten thousand requests does not outlast what somebody has asked for."""
    loop = loop_on(server, PoolTuple(1, 3, 500))
    loop.rules = replace(loop.rules, pace=loop.rules.pace.model_copy(update={"least_requests": 10_000}))
    loop.run(30.0)
    assert 30.0 <= server.snapshot().time_s < 35.0
