"""Another number of processors under a running server: a quota or an affinity has changed, and what was seen is void.

Windows of the two compare as little as those of two workloads, and what is right for one may be wrong for the other.
The pool's configuration is nobody's fault: a trial ends without a verdict, and the incumbent comes back.
"""

from poolpilot.mariadb.host.quota_periods import cpus_in_words
from poolpilot.serve.tuner.machine.another_workload import begun_anew
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.trying import abandon
from poolpilot.serve.tuner.machine.why_not import Rules

PAUSES = (State.COOL_DOWN, State.STAND_DOWN, State.OPEN_CIRCUIT)
"""States that go on: another machine does not roll back what a person has said, nor that trials went wrong."""


def change_of_machine(observation: Observation, memory: Memory) -> str | None:
    """That the server may use another number of processors than before, as a sentence; None where it may not."""
    before, now = memory.cpus, None if observation.reading is None else observation.reading.cpus
    if before is None or now is None or now == before:
        return None
    return f"the server may use {cpus_in_words(now)} by now instead of {cpus_in_words(before)}"


def on_another_machine(observation: Observation, memory: Memory, rules: Rules) -> Memory:
    """What is remembered on another machine: the incumbent, what is refused whatever runs, and known workloads.

    The latest window began on the one before, so that it counts for nothing.
    """
    state = memory.state if memory.state in PAUSES else State.WATCH
    memory = abandon(observation.model_copy(update={"reading": None}), memory)
    return begun_anew(observation, memory, rules).but(
        state=state, watched=(), blamed=None, starved_by=None, was_rolled_back=False, changed_s=None, replaced=None
    )
