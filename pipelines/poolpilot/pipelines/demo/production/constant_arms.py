"""The arms that nobody tunes: the server as it starts, and the best constant, chosen in short turns of one load."""

import math
import time
from collections.abc import Callable, Mapping, Sequence

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.pipelines.demo.production.phase_seen import OnWindow, PhaseSeen, watched
from poolpilot.pipelines.demo.production.shifting_load import LoadedLab

Core = tuple[int, int, int]

OnPhase = Callable[[str], None]
"""Is told the name of a phase that begins."""

RUN_UP_S = 1.0
"""Seconds that a load runs before anything counts: its connections open."""


def through_phases(
    place: LoadedLab,
    phases: Sequence[SqlWorkload],
    seconds: float,
    window_s: float,
    on_phase: OnPhase,
    on_window: OnWindow = lambda _: None,
) -> list[PhaseSeen]:
    """Sends one workload after the other to the running server and watches their clients, whoever tunes it.

    Args:
        place: The server.
        phases: The workloads.
        seconds: How long each is watched.
        window_s: Seconds of a window.
        on_phase: Is told of each phase.
        on_window: Is told of each window; an error of its own ends the arm.

    Raises:
        ServerError: Server or load has failed.
    """
    seen = []
    for workload in phases:
        on_phase(workload.name)
        with place.sending(workload) as load:
            time.sleep(RUN_UP_S)
            seen.append(watched(load, seconds, window_s, on_window))
    return seen


def in_turns(
    place: LoadedLab, workload: SqlWorkload, cores: Sequence[Core], rounds: int, turn_s: float, settle_s: float
) -> dict[Core, float]:
    """Mean ln of the requests a second under each constant, which take turns under one load.

    Args:
        place: The server, which runs.
        workload: The load.
        cores: The constants.
        rounds: How often each has its turn; every other round goes backwards, so that a drift strikes all alike.
        turn_s: Seconds of a turn.
        settle_s: Seconds after a change that do not count.

    Raises:
        ServerError: Server or load has failed, or it does not take a constant.
    """
    logs: dict[Core, list[float]] = {core: [] for core in cores}
    with place.sending(workload) as load, place.tuner_server() as server:
        time.sleep(RUN_UP_S)
        for number in range(rounds):
            for core in cores if number % 2 == 0 else reversed(cores):
                server.apply(server.tuple_in_force().with_core(core))
                time.sleep(settle_s)
                seen = watched(load, turn_s, turn_s)
                logs[core].append(math.log(max(seen.throughput_per_s, 1.0)))
    return {core: sum(each) / len(each) for core, each in logs.items()}


def best_of(by_phase: Sequence[Mapping[Core, float]]) -> PoolTuple:
    """The constant with the greatest geometric mean over the phases."""
    best = max(by_phase[0], key=lambda core: sum(phase[core] for phase in by_phase))
    return PoolTuple(*best)
