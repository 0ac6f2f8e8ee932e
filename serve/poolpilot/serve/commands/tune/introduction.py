"""What `poolpilot tune` says before it begins: what the tuner may do, and how people stop it."""

from pathlib import Path

from poolpilot.env.server import AnyServer
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.server.mariadb_server import MariadbServer
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
        limit = worst if rules.envelope.most_threads is None else max(min(worst, rules.envelope.most_threads), 0)
        lines += too_few_threads(target.server, in_force)
        lines.append(
            f"It may set sizes {least}..{most}, by a factor of {rules.guard.factor:g} at a time, with {limit} threads "
            f"at work at worst{_stacks(rules, limit)}; requests that wait hold threads beyond these. "
            f"While the file {folder / KILL_FILE} is there, it sets nothing."
        )
    if settings.lease == "event":
        lines.append(f"Should this host vanish, the database restores the incumbent within {settings.lease_s} s.")
    if settings.approve:
        lines.append(
            f"A step waits until {folder / APPROVAL_FILE} holds it, such as (4, 3, 250); one trial uses that up."
        )
    return "\n".join(lines)


def too_few_threads(server: AnyServer, in_force: PoolTuple) -> list[str]:
    """That there are no threads for a step up, as a line, where a MariaDB server has none to spare."""
    if not isinstance(server, MariadbServer):
        return []
    left = server.threads_beside_reserve
    if left >= in_force.active_threads:
        return []
    return [
        f"thread_pool_max_threads leaves {max(left, 0)} threads beside {server.watch.spare_threads} in reserve, and "
        f"{in_force} may ask for {in_force.active_threads}: no step up can be tried; raise it in my.cnf."
    ]


def _stacks(rules: Rules, threads: int) -> str:
    """Memory that the stacks of so many threads may take, where the server tells."""
    if rules.thread_stack_bytes is None:
        return ""
    return f", which is {threads * rules.thread_stack_bytes / 2**20:.0f} MB of stacks"
