"""What a class completes alone in a closed loop, so that a load may offer a share of it on any machine."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from poolpilot.env.measurement.protocol import observe
from poolpilot.errors import ServerError
from poolpilot.lab.sql_workload import MOST_CONNECTIONS, SqlClass, SqlWorkload
from poolpilot.mariadb.server.mariadb_server import MariadbServer

MEASURED_S = 3.0

OpenServer = Callable[[SqlWorkload], AbstractContextManager[MariadbServer]]
"""Starts a fresh server under a workload, with its default tuple in force."""


def at_capacity(workload: SqlWorkload, open_server: OpenServer, measured_s: float = MEASURED_S) -> SqlWorkload:
    """The workload with rates or pauses in place of shares of the capacity; itself where no class offers a share.

    Classes that send the same script with the same options share one measurement, of all their connections together, up
    to as many as one class may have: that is the capacity of which each of them offers its share.

    Args:
        workload: The workload.
        open_server: What the capacity is measured on.
        measured_s: Seconds of a measurement.

    Raises:
        ServerError: A server failed, or a class completed nothing.
    """
    per_s: dict[tuple[str, str], float] = {}
    for one in workload.classes:
        if one.capacity_share and _sent(one) not in per_s:
            per_s[_sent(one)] = _capacity_per_s(workload, one, open_server, measured_s)
    if not per_s:
        return workload
    return replace(workload, classes=tuple(_with_rate(one, per_s) for one in workload.classes))


def _with_rate(one: SqlClass, capacity_per_s: Mapping[tuple[str, str], float]) -> SqlClass:
    if not one.capacity_share:
        return one
    rate_per_s = one.capacity_share * capacity_per_s[_sent(one)]
    if one.share_by == "rate":
        return replace(one, capacity_share=0.0, rate_per_s=rate_per_s)
    # A request takes next to nothing of the cycle of a connection that pauses: so much is asked for, or a little less.
    return replace(one, capacity_share=0.0, share_by="rate", think_ms=1000.0 * one.connections / rate_per_s)


def _sent(one: SqlClass) -> tuple[str, str]:
    return one.script, repr(sorted(one.options.items()))


def _capacity_per_s(workload: SqlWorkload, wanted: SqlClass, open_server: OpenServer, measured_s: float) -> float:
    connections = sum(one.connections for one in workload.classes if _sent(one) == _sent(wanted))
    alone = SqlClass("alone", wanted.script, min(connections, MOST_CONNECTIONS), options=wanted.options)
    with open_server(replace(workload, classes=(alone,), side=None)) as server:
        window = observe(server, measured_s).window
    if window.throughput_per_s <= 0.0:
        raise ServerError(f"{workload.name}: class {wanted.name} completed nothing in {measured_s:g} s: no capacity")
    return window.throughput_per_s
