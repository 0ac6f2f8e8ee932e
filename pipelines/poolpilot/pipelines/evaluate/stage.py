"""A workload with the server it runs on: all that a demonstration or a live evaluation must know of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer


@dataclass(frozen=True)
class Stage:
    """A workload, and how to put it on a server.

    Attributes:
        name: Name of the workload.
        family: Family it was drawn from.
        seed: Its seed.
        objective: What counts for it.
        open_server: Starts a fresh server under it, with the default tuple in force; its context closes both.
        cpu_ms: Processor time of a request in milliseconds, by class, where the workload says it.
        classes: Names of its classes.
        cycle_s: Seconds after which the load begins anew; 0 for an even one.
        digest: Digest of the file that it comes from; none where it comes from no file.
        remarks: What that file says and nothing uses, in sentences.
        on_mariadb: Whether its server is a MariaDB, which settles and counts more slowly than a pool of ours.
        in_virtual_time: Whether its server is simulated, so that a further one costs nothing and nothing disturbs it.
        open_again: Starts one whose draws are none of those of `open_server`; None where no two starts draw alike.
    """

    name: str
    family: str
    seed: int
    objective: Objective
    open_server: Callable[[], PoolServer]
    cpu_ms: Mapping[str, float] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    cycle_s: float = 0.0
    digest: str = ""
    remarks: tuple[str, ...] = ()
    on_mariadb: bool = False
    in_virtual_time: bool = False
    open_again: Callable[[], PoolServer] | None = None

    def drawn_anew(self) -> Self:
        """The same with draws of which nobody has seen a window."""
        return self if self.open_again is None else replace(self, open_server=self.open_again)
