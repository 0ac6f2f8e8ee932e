"""A step to another tuple: how it begins, and which one follows it at once."""

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.paired_trial import UNSEEN_NOISE, PairedTrial, noise_of
from poolpilot.serve.tuner.machine.evidence.starving import rows_noise
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules, at_worst, most_lost_windows, why_not

Step = tuple[Memory, Decision]
"""What is remembered after an observation, and what is decided."""


def begin_trial(
    candidate: PoolTuple,
    observation: Observation,
    memory: Memory,
    rules: Rules,
    reason: str,
    *,
    backward: bool,
    recall: int | None = None,
) -> Step:
    """Sets a candidate for its first window.

    Args:
        candidate: The tuple to try.
        observation: What was found out last.
        memory: What is remembered, with a window of the incumbent at least.
        rules: What is allowed.
        reason: Why, as a sentence; what the candidate may ask for at worst is added.
        backward: Whether it was in force before under this workload, and may be better after all.
        recall: Number of the known workload that it was verified for; None where it was for none.
    """
    known = memory.known.numbered(recall)
    chance = max(each.chance if each.by_time else 0.0 for each in memory.baseline)  # few samples may agree by chance
    noise = max(noise_of(memory.baseline), chance, 0.0 if known is None else known.noise)
    trial = PairedTrial(
        before=memory.incumbent,
        candidate=candidate,
        noise=noise,
        befores=memory.baseline[-1:],
        throughput_noise=_throughput_noise(memory, rules),
        risen=0.0 if backward else memory.risen,
        rows_lost=0.0 if backward else memory.rows_lost,
        rows_variance=0.0 if backward else memory.rows_variance,
        rows_noise=rows_noise(memory.baseline, rules.pace.baseline_windows),
    )
    leads_round = memory.leads_round and not backward and recall is None
    memory = memory.but(
        state=State.TRIAL,
        trial=trial,
        backward=backward,
        expected=candidate,
        trials_s=(*memory.trials_s, observation.at_s),
        pending=None,
        aftermath=None,
        leads_round=False,
        ways_round=memory.ways_round + leads_round,
        check_initial=False,
        recall=recall,
        returning=None,
        sights=(*memory.sights, memory.sight()),
    )
    said = f"{reason} ({at_worst(candidate, rules)})"
    return memory, memory.decision(said, most_lost=_most_lost(trial.befores[-1], rules))


def _throughput_noise(memory: Memory, rules: Rules) -> float | None:
    """See `PairedTrial`."""
    if not memory.baseline[-1].by_time:
        return None
    found = noise_of([each.by_completions() for each in memory.baseline])
    return found if len(memory.baseline) >= rules.pace.baseline_windows else max(found, UNSEEN_NOISE)


def further_step(observation: Observation, memory: Memory, rules: Rules) -> PoolTuple | None:
    """The next step towards the goal where it may be tried now; None where the predictor is to be asked first."""
    if memory.goal is None:
        return None
    candidate = rules.envelope.step(memory.incumbent, memory.goal)
    if candidate == memory.incumbent or memory.refuses(candidate):
        return None
    return candidate if why_not(candidate, observation, memory, rules) is None else None


def _most_lost(before: Reading, rules: Rules) -> float:
    return before.throughput_per_s * before.seconds * most_lost_windows(rules)
