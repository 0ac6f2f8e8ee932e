"""Another workload under the tuple in force: what was found out under the one before no longer holds."""

from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.look import Look, Reading
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules


def watched_anew(reading: Reading, look: Look, memory: Memory, rules: Rules) -> Memory:
    """What is remembered once another workload has come, with its first window."""
    return memory.but(
        state=State.WATCH,
        workload=memory.workload + 1,
        baseline=(reading,),
        began_s=look.at_s,
        other=0,
        asked_s=None,
        pending=None,
        journey=None,
        goal=None,
        refusals=(),
        risen=0.0,
        rows_lost=0.0,
        rows_variance=0.0,
        check_home=True,
        present=None,
        sights=(),
        recall=None,
        exploring=False,
        explored=spared(memory, rules),
        returning=None,
    )


def spared(memory: Memory, rules: Rules) -> int:
    """Failed ways of learning that count under another workload: it gets one, at the price of the last."""
    return min(memory.explored, max(rules.guard.explorations - 1, 0))
