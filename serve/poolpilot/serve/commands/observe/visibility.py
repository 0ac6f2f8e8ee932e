"""What a MariaDB server shows to an account, and what would let it see the rest."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.mariadb.wait_events import WAIT_EVENTS_TABLE

A_LOGIN = "a login"
THIS_HOST = "the server's process on this host"


class Sight(NamedTuple):
    """Something that a server may show.

    Attributes:
        name: What it is, in words.
        counter: A counter or gauge of snapshots that have it.
        needs: What an account needs to see it.
    """

    name: str
    counter: str
    needs: str


SIGHTS = (
    Sight("groups, queues and waits of the pool", "reported_sleep", A_LOGIN),
    Sight("mix of statements", "statements_select", A_LOGIN),
    Sight("rows read, which long statements show", "rows_read", A_LOGIN),
    Sight("row-lock time", "row_lock_wait_us", f"{A_LOGIN}; InnoDB"),
    Sight("processors", "cpus", f"{THIS_HOST}, or --cpus N"),
    Sight("processor time", "process_cpu_us", THIS_HOST),
    Sight("run-queue delay and switches", "threads_run_delay_us", f"{THIS_HOST}, at most 4096 threads"),
    Sight("idle processors", "machine_idle_us", f"{THIS_HOST}, on all of its processors"),
    Sight("periods of a CPU quota", "quota_periods", f"{THIS_HOST}, in a control group of processor time"),
    Sight("wait events of files", "events_file", f"performance_schema = ON in my.cnf, SELECT on {WAIT_EVENTS_TABLE}"),
)


def visibility_rows(snapshot: Snapshot) -> list[dict[str, str | bool]]:
    """What there is to see, whether this snapshot has it, and what it needs; fit for JSON."""
    seen = {*snapshot.counters, *snapshot.gauges}
    return [{"name": sight.name, "seen": sight.counter in seen, "needs": sight.needs} for sight in SIGHTS]


def visibility_table(rows: Iterable[Mapping[str, str | bool]]) -> Table:
    """The same as people read it."""
    table = Table(title="What it shows", title_justify="left", box=SIMPLE_HEAD, show_edge=False)
    for heading in ("measure", "seen"):
        table.add_column(heading, no_wrap=True)
    table.add_column("needs", overflow="fold")
    for row in rows:
        table.add_row(str(row["name"]), "yes" if row["seen"] else "no", str(row["needs"]))
    return table
