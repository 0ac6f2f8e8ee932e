"""The processors of a running MariaDB change under its tuner, which never opens its connection anew."""

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.session import Session
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.decision_replay import replayed
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.decision import Mode, State
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.tuner_loop import TunerLoop

MOST_TURNS = 60

CLIENTS = 8


@pytest.fixture
def busy(lab: Lab) -> Iterator[MariadbServer]:
    """A server with clients whose statements queue for its processors: where nothing waits nothing is tried."""
    account, ended = Dsn(defaults_file=lab.defaults_file).account(), threading.Event()

    def send() -> None:
        with Session(lab.root) as client:
            while not ended.is_set():
                client.rows("SELECT BENCHMARK(10000, SHA1('a'))")

    senders = [threading.Thread(target=send) for _ in range(CLIENTS)]
    with MariadbServer(account) as server:
        first = server.tuple_in_force()
        for sender in senders:
            sender.start()
        try:
            yield server
        finally:
            ended.set()
            for sender in senders:
                sender.join()
            server.put_back(first)


@contextlib.contextmanager
def pinned(pid: int, processor: int) -> Iterator[None]:
    """All threads of a process on one processor for the duration of the block."""
    allowed = os.sched_getaffinity(pid)
    pin(pid, {processor})
    try:
        yield
    finally:
        pin(pid, allowed)


def pin(pid: int, processors: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), processors)


def tuner_of(server: MariadbServer, wanted: PoolTuple, log: DecisionLog) -> TunerLoop:
    guard = GuardSettings()
    pace = PaceSettings(observe_for_s=2.0, baseline_windows=3, least_pairs=2, most_pairs=3, verify_windows=2)
    rules = Rules(Mode.APPLY, guard, pace, Envelope.of(guard, server.knobs))
    measurement = MeasurementSettings(settle_s=0.2, window_s=1.0)
    return TunerLoop(Target(server, Objective()), StaticPredictor(wanted), rules, measurement, log=log)


def test_affinity_that_changes_ends_a_try_without_a_verdict(busy: MariadbServer, tmp_path: Path) -> None:
    assert busy.process is not None
    allowed = os.sched_getaffinity(busy.process.pid)
    if len(allowed) < 2:
        pytest.skip("there is no processor to take away")
    found = busy.tuple_in_force()
    log = DecisionLog(tmp_path, "lab")
    loop = tuner_of(busy, found.with_core((found.pool_size * 2, *found.core[1:])), log)
    turns = (loop.turn() for _ in range(MOST_TURNS))
    assert any(each.state is State.TRIAL for each in turns), loop.decision
    with pinned(busy.process.pid, min(allowed)):
        ended = loop.turn()
        assert ended.reason.startswith(f"the server may use 1 processor by now instead of {len(allowed)} processors; ")
        assert (ended.state, ended.pool_tuple, loop.memory.trial) == (State.WATCH, found, None)
        loop.turn()
        assert busy.tuple_in_force() == found
        assert (busy.cpus, loop.memory.cpus) == (1.0, 1.0)
        assert not loop.memory.roll_backs_s
        assert not loop.memory.refusals
    assert "instead of 1 processor" in loop.turn().reason
    log.close()
    assert all(written == again for written, again in replayed(log.path))
