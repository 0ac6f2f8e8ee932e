"""What `poolpilot tune` says before it begins: what the tuner may do, and how people stop it."""

from pathlib import Path

from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import APPROVAL_FILE, KILL_FILE
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.why_not import Rules


def introduction(settings: TuneSettings, target: Target, rules: Rules, folder: Path) -> str:
    """What the tuner may do, before it begins."""
    in_force = target.server.tuple_in_force()
    lines = [f"Tuner of {target.name}, mode {settings.mode}; {in_force} is in force. Decisions go to {folder}."]
    if rules.mode is Mode.APPLY:
        (least, most), *_ = rules.envelope.ranges
        worst = in_force.with_core((most, rules.envelope.ranges[1][1], 1)).active_threads
        limit = worst if rules.envelope.most_threads is None else min(worst, rules.envelope.most_threads)
        lines.append(
            f"It may set sizes {least}..{most}, by a factor of {rules.guard.factor:g} at a time, with {limit} threads "
            f"at work at worst{_stacks(rules, limit)}; who waits has one beside these. "
            f"While the file {folder / KILL_FILE} is there, it sets nothing."
        )
    if settings.lease == "event":
        lines.append(f"Should this host vanish, the database brings back what is verified within {settings.lease_s} s.")
    if settings.approve:
        lines.append(
            f"A step waits until {folder / APPROVAL_FILE} holds it, such as (4, 3, 250); one try uses that up."
        )
    return "\n".join(lines)


def _stacks(rules: Rules, threads: int) -> str:
    """Memory that the stacks of so many threads may take, where the server tells."""
    if rules.thread_stack_bytes is None:
        return ""
    return f", which is {threads * rules.thread_stack_bytes / 2**20:.0f} MB of stacks"
