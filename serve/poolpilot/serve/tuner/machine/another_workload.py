"""Another workload under the tuple in force: how it is told from chance, and that what was found no longer holds.

It is told by what is completed and by what its requests look like. Two workloads may complete alike under one tuple and
need different ones; their ratios (`models/latent/ratios.py`) tell them apart. On simulated days 3 in 1,000 windows of
one workload lie more than 0.3 from those before, once a pool has tipped into another state, and 96 in 100 of the first
two of another; on a MariaDB 6 in 100 of one (measured at commit d142445c, `benchmarks/observation_distances.py`).
"""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from poolpilot.serve.tuner.known.known_workloads import mean_ratios, ratio_distance
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.aftermath import Aftermath
from poolpilot.serve.tuner.machine.evidence.paired_trial import noise_of, usual_scatter
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Memory, Refusal
from poolpilot.serve.tuner.machine.why_not import Rules

NOISES = 3.0
"""A change is another workload only beyond so many standard deviations of a window."""


@dataclass(frozen=True)
class WorkloadShift:
    """A window that is not of the workload before.

    Attributes:
        change: How far ln goodput, or ln throughput, is from what it was; 0 where that is chance.
        apart: How far the ratios are from what they were.
    """

    change: float
    apart: float = 0.0

    def __str__(self) -> str:
        if self.change:
            return f"goodput changed by {100 * math.expm1(self.change):+.0f} %"
        return f"requests look different ({self.apart:.2f} from those before)"


def shift_of(
    reading: Reading, usual: Sequence[Reading], rules: Rules, watched: Sequence[Reading] = ()
) -> WorkloadShift | None:
    """What tells that a window is of another workload; None where it is of the same, for all that is known.

    Args:
        reading: A window.
        usual: Those that it is held against.
        rules: How much is another workload.
        watched: Further ones, perhaps of other workloads, that show how much windows scatter.
    """
    if change := _change(reading, usual, rules, watched):
        return WorkloadShift(change)
    apart = apart_from(reading, usual, rules, watched)
    return WorkloadShift(0.0, apart) if apart else None


def apart_from(reading: Reading, usual: Sequence[Reading], rules: Rules, watched: Sequence[Reading] = ()) -> float:
    """How far the ratios of a window are from those of others; 0 where that is chance, or not known.

    Args:
        reading: A window.
        usual: Those that it is held against; none tell nothing.
        rules: How much is another workload.
        watched: Further ones, perhaps of other workloads, that show how much windows scatter.
    """
    apart = ratio_distance(reading.ratios, mean_ratios(each.ratios for each in usual))
    return apart if _least_apart(usual, watched, rules) < apart < math.inf else 0.0


def _change(reading: Reading, usual: Sequence[Reading], rules: Rules, watched: Sequence[Reading]) -> float:
    """How far ln goodput is from what it was; 0 where that is chance.

    Where goodput is told by the time that requests spend, which scatters, completed requests tell of it as well.
    """
    change = statistics.fmean(math.log(reading.goodput_per_s / each.goodput_per_s) for each in usual)
    chance = max(each.chance for each in (reading, *usual))
    if abs(change) > max(rules.pace.shift, NOISES * max(noise_of(usual), usual_scatter(watched), chance)):
        return change
    if not reading.by_time:
        return 0.0
    completed, seen = ([each.by_completions() for each in windows] for windows in (usual, watched))
    return _change(reading.by_completions(), completed, rules, seen)


def _least_apart(usual: Sequence[Reading], watched: Sequence[Reading], rules: Rules) -> float:
    """Distance of ratios beyond which windows are of another workload, however much they scatter."""
    return max(rules.pace.ratio_shift, NOISES * max(_scatter(usual), _scatter(watched)))


def _scatter(readings: Sequence[Reading]) -> float:
    """Distance of the ratios of a window from the mean of its like, by the median step from one to the next."""
    steps = [ratio_distance(one.ratios, two.ratios) for one, two in itertools.pairwise(readings)]
    known = [step for step in steps if math.isfinite(step)]
    return statistics.median(known) / math.sqrt(2.0) if known else 0.0


def watched_anew(reading: Reading, observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """What is remembered once another workload has come, with its first window.

    Where what was found at first is in force, and a trial may have left it so, latency is held against that of before.
    """
    left = memory.aftermath if memory.incumbent == memory.initial else None
    anew = begun_anew(observation, memory, rules).but(baseline=(reading,))
    return anew if left is None else anew.but(**_changed(left, reading))


def begun_anew(observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """What is remembered once another workload has come, of which there is no window yet."""
    return memory.but(
        state=State.WATCH,
        workload=memory.workload + 1,
        baseline=(),
        began_s=observation.at_s,
        other=0,
        asked_s=None,
        pending=None,
        journey=None,
        goal=None,
        refusals=_lasting(memory),
        risen=0.0,
        gained=0.0,
        aftermath=None,
        rows_lost=0.0,
        rows_variance=0.0,
        check_initial=True,
        present=None,
        sights=(),
        recall=None,
        exploring=False,
        explored=spared(memory, rules),
        returning=None,
        rolled_back_under=(),
        ways_round=0,
    )


def left_so(reading: Reading, memory: Memory, rules: Rules) -> Memory | None:
    """What is remembered where a trial has left the pool as a window shows it; None where it is another workload.

    A change that follows directly upon a trial is the trial's where requests look like those before, unless what is
    verified does worse than the initial tuple did: then that must get its chance, whoever is to blame.
    """
    left = memory.aftermath
    if left is None or not _appears_alike(reading, memory, rules) or not left.does(reading, rules.guard):
        return None
    return memory.but(baseline=(reading,), other=0, **_changed(left, reading))


def _changed(left: Aftermath, reading: Reading) -> dict[str, object]:
    """What is remembered with the first window of a change that a trial may have brought about."""
    return {"aftermath": left.after_change(), **left.held_against((reading,))}


def _appears_alike(reading: Reading, memory: Memory, rules: Rules) -> bool:
    """Whether a window may be of the workload that is watched, by its ratios; that of a poorer pool lies 0.26 away."""
    apart = ratio_distance(reading.ratios, mean_ratios(each.ratios for each in memory.baseline))
    return math.isinf(apart) or apart <= _least_apart(memory.baseline, memory.watched, rules)


def watched_on(reading: Reading, memory: Memory, rules: Rules) -> Memory:
    """With a further window of the workload in force; what a trial has left is known once there are enough."""
    memory = memory.but(baseline=with_latest(memory.baseline, reading, rules), other=0)
    if memory.aftermath is None:
        return memory
    left = memory.aftermath.after_window()
    if left.changed:
        memory = memory.but(**left.held_against(memory.baseline))
    return memory.but(aftermath=left if left.windows < rules.pace.baseline_windows else None)


def with_latest(readings: Sequence[Reading], reading: Reading, rules: Rules) -> tuple[Reading, ...]:
    """The latest windows, one more among them: as many as are kept."""
    return (*readings, reading)[-2 * rules.pace.baseline_windows :]


def spared(memory: Memory, rules: Rules) -> int:
    """Failed ways of learning that count under another workload: it gets one, at the price of the last."""
    return min(memory.explored, max(rules.guard.explorations - 1, 0))


def acquitted(memory: Memory, rules: Rules) -> Memory:
    """Once the workload surely looks otherwise than that under which trials were rolled back: they may be tried again.

    An open circuit is half open then, once until it closes: the first trial that is rolled back opens it again.
    """
    if memory.state is State.STAND_DOWN or not _appears_otherwise(memory, rules):
        return memory
    memory = memory.but(refusals=_lasting(memory), rolled_back_under=(), ways_round=0)
    if memory.state is not State.OPEN_CIRCUIT or memory.opened_again:
        return memory
    return memory.but(
        state=State.WATCH,
        paused=State.COOL_DOWN,
        wait_until_s=None,
        asked_s=None,
        half_open_until_s=memory.wait_until_s,
        opened_again=True,
    )


def _appears_otherwise(memory: Memory, rules: Rules) -> bool:
    """Whether what is watched is far from everything that was seen around the last trial that was rolled back."""
    seen = memory.rolled_back_under
    if not seen or len(memory.baseline) < rules.pace.baseline_windows:
        return False
    if any(each.pool_tuple != memory.incumbent for each in seen):
        return False
    least, sight = _least_apart(memory.baseline, memory.watched, rules), memory.sight()
    return all(least < ratio_distance(each.ratios, sight.ratios) < math.inf for each in seen)


def _lasting(memory: Memory) -> tuple[Refusal, ...]:
    """What is refused under any workload: what the server was lost under, or did not take."""
    return tuple(each for each in memory.refusals if each.whatever_runs)
