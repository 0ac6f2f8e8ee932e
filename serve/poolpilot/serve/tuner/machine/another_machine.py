"""Another number of processors under a running server: a quota or an affinity has changed, and what was seen is void.

Windows of the two compare as little as those of two workloads, and what is right for one may be wrong for the other.
The pool's configuration is nobody's fault: a try ends without a verdict, and what is verified comes back.
"""

from poolpilot.env.mariadb.host.quota_periods import cpus_in_words
from poolpilot.serve.tuner.machine.another_workload import begun_anew
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.look import Look
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.trying import abandon
from poolpilot.serve.tuner.machine.why_not import Rules

PAUSES = (State.COOL_DOWN, State.STAND_DOWN, State.OPEN_CIRCUIT)
"""States that go on: another machine does not take back what a person has said, nor that tries went wrong."""


def change_of_machine(look: Look, memory: Memory) -> str | None:
    """That the server may use another number of processors than before, as a sentence; None where it may not."""
    before, now = memory.cpus, None if look.reading is None else look.reading.cpus
    if before is None or now is None or now == before:
        return None
    return f"the server may use {cpus_in_words(now)} by now instead of {cpus_in_words(before)}"


def on_another_machine(look: Look, memory: Memory, rules: Rules) -> Memory:
    """What is remembered on another machine: what is verified, what is refused whatever runs, and known workloads.

    The latest window began on the one before, so that it counts for nothing.
    """
    state = memory.state if memory.state in PAUSES else State.WATCH
    memory = abandon(look.model_copy(update={"reading": None}), memory)
    return begun_anew(look, memory, rules).but(
        state=state, watched=(), blamed=None, starved_by=None, took_back=False, changed_s=None, replaced=None
    )
