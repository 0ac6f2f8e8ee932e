"""What else goes on beside the clients' statements: tables change, backups run, replication is behind."""

from collections.abc import Iterator, Sequence

from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.replica_status import ReplicaStatus

LONG_S = 1.0
"""Seconds from which on a statement that changes a table, or a wait for a lock of its definition, is one to mind; what
is over sooner is part of the workload."""


def goings_on(sessions: Sequence[ListedSession]) -> Iterator[Finding]:
    """What is done to tables, or to all of the server, by sessions that run a statement."""
    for one in sessions:
        if one.backs_up:
            yield Finding(
                "backup", Severity.NOTICE, f"{one} backs up: {one.kind} for {one.since_s:.0f} s", sessions=(one.number,)
            )
        elif one.changes_tables and one.since_s >= LONG_S:
            held_off = ", and waits for the table" if one.waits_for_metadata else ""
            yield Finding(
                "ddl",
                Severity.NOTICE,
                f"{one} changes a table: {one.kind} for {one.since_s:.0f} s{held_off}",
                remedies=("what the pool shows meanwhile is not the usual workload: wait for its end",),
                sessions=(one.number,),
            )


def lagging(replicas: Sequence[ReplicaStatus], most_lag_s: float) -> Iterator[Finding]:
    """The replication connections that are behind by more than `most_lag_s` seconds."""
    for one in replicas:
        if one.lag_s is not None and one.lag_s > most_lag_s:
            yield Finding(
                "replica_lag", Severity.WARNING, f"{one} is {one.lag_s:.0f} s behind, more than {most_lag_s:g} s"
            )
