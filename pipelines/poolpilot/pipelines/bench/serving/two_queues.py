"""Options of a pool that keeps two classes apart, each in a queue of its own.

They are plain values, as `Served` wants them; `served.native_options` makes of them what a simulated pool wants.
"""

from collections.abc import Iterable, Mapping
from typing import Any

RULES = ({"class_id": 0, "queue": 0}, {"class_id": 1, "queue": 1})
"""The first class of a workload goes to the first queue, the second to the second."""

OUTSIDE = frozenset({"point_select"})
"""Classes of sysbench whose statements stand alone."""

Options = Mapping[str, Any]
"""Start-up options of a live or simulated pool."""


def weighted_queues(weight: float) -> dict[str, Any]:
    """Weighted priorities (Trub): the weight of a queue is the probability that it is served next.

    Args:
        weight: Weight of the second class, 0..1; the first has the rest.
    """
    return {"discipline": "weighted", "queues": [{"weight": 1.0 - weight}, {"weight": weight}], "rules": [*RULES]}


def transactions_first(names: Iterable[str]) -> dict[str, Any]:
    """The two levels of MariaDB: statements of a transaction go first, the others once they have waited for a second.

    The level is that of the class, as if all transactions had begun long ago.

    Args:
        names: Names of the classes in their order; those of `OUTSIDE` are no part of a transaction.
    """
    rules = [{"class_id": number, "queue": int(name in OUTSIDE)} for number, name in enumerate(names)]
    return {"discipline": "mariadb", "rules": rules}


def first_queue_first() -> dict[str, Any]:
    """Pure priority: the second class is served while none of the first waits."""
    return {"discipline": "priority", "queues": [{}, {}], "rules": [*RULES]}


def by_weight_of_time(weight: float) -> dict[str, Any]:
    """Shares of the workers' time instead of shares of the requests, as class-based weighted fair queueing gives them.

    Args:
        weight: Weight of the second class, above 0 and below 1.
    """
    return {**weighted_queues(weight), "discipline": "cbwfq", "share_of": "time"}
