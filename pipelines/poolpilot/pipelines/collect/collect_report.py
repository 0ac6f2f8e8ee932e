"""What a collection did, and how it is shown."""

from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from poolpilot.env.measurement.sweep import WorkloadSweep


@dataclass
class CollectReport:
    """What a collection did.

    Attributes:
        store: Folder of the store.
        planned: Workloads wanted.
        complete: Workloads of these that have nothing left to measure.
        failed: Sentence by workload that failed in this run.
        windows: Windows measured in this run.
        duration_s: Length of this run.
        stopped: Why it ended early; None if it did not.
        torn: Segments set aside.
        digest: SHA-256 of the store.
    """

    store: Path
    planned: int
    complete: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    windows: int = 0
    duration_s: float = 0.0
    stopped: str | None = None
    torn: tuple[str, ...] = ()
    digest: str = ""

    def table(self) -> Table:
        """The report as people read it."""
        table = Table(title="Collection", show_header=False, title_justify="left")
        table.add_row("store", str(self.store))
        table.add_row("workloads complete", f"{self.complete} of {self.planned}")
        table.add_row("windows measured now", f"{self.windows} in {self.duration_s:.0f} s")
        table.add_row("digest", self.digest[:12])
        if self.stopped:
            table.add_row("stopped early", f"{self.stopped}; run the same command again to go on")
        for name, sentence in self.failed.items():
            table.add_row("failed", f"{name}: {sentence}")
        for name in self.torn:
            table.add_row("torn, set aside", name)
        return table


def outcome_line(sweep: WorkloadSweep) -> str:
    """One sentence about a finished sweep."""
    default = sweep.limits.default_tuple()
    return (
        f"{sweep.workload_id}: best {sweep.oracle_tuple} of {len(sweep.entries)}, "
        f"the default {default} loses {100 * sweep.regret(default):.1f} %, noise {100 * sweep.noise:.1f} %"
    )


def progress_bar(console: Console) -> Progress:
    """A bar over the windows of a collection, with the time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("windows, left"),
        TimeRemainingColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=False,  # a thread that draws would take CPU from the server that is measured
    )
