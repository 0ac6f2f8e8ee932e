"""From facts to a diagnosis, without a server: the same facts always say the same."""

from collections.abc import Iterator

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Diagnosis, Finding, Severity
from poolpilot.mariadb.diagnosis.full_disks import FullDisk
from poolpilot.mariadb.diagnosis.goings_on import goings_on, lagging
from poolpilot.mariadb.diagnosis.judgement.connection_findings import connection_findings
from poolpilot.mariadb.diagnosis.judgement.holder_findings import holder_finding
from poolpilot.mariadb.diagnosis.judgement.known_states import FULL_DISK
from poolpilot.mariadb.diagnosis.judgement.lock_holds import lock_holds
from poolpilot.mariadb.diagnosis.judgement.pool_findings import pool_finding
from poolpilot.mariadb.diagnosis.judgement.quota_finding import used_up_quota
from poolpilot.mariadb.diagnosis.judgement.same_state import same_state
from poolpilot.mariadb.diagnosis.judgement.timer_finding import long_stall_limit

MOST_REPLICA_LAG_S = 30.0

EXTRA_PORT_LINES = ("[mariadb]", "extra_port = 3307", "extra_max_connections = 3")
"""What keeps a way in open; a restart puts it in force."""


def diagnose(facts: Facts, most_replica_lag_s: float = MOST_REPLICA_LAG_S) -> Diagnosis:
    """Says what is wrong, the worst first, and how the pool is in any case.

    Args:
        facts: What was seen.
        most_replica_lag_s: Seconds that a replica may be behind.
    """
    found = [pool_finding(facts), *_others(facts, most_replica_lag_s)]
    if (limit := long_stall_limit(facts)) and found[0].kind != limit.kind:
        found.append(limit)
    return Diagnosis(
        tuple(sorted(found, key=lambda one: (-one.severity, one.kind == "unjudged"))),
        facts.hidden,
        {
            "seconds": facts.span_s,
            "dequeued_per_s": facts.dequeued / facts.span_s,
            "queued": facts.mean_queued,
            "served": facts.mean_served,
            "queueing_s": facts.queueing_s,
            "threads": float(facts.after.threads),
            "server_share": facts.server_share,
        },
    )


def _others(facts: Facts, most_replica_lag_s: float) -> Iterator[Finding]:
    yield from connection_findings(facts)
    yield from map(_full_disk, facts.full)
    yield from used_up_quota(facts)
    holds = tuple(lock_holds(facts))
    yield from (holder_finding(facts, hold) for hold in holds)
    yield from same_state(facts, {waiter for hold in holds for waiter in hold.waiters})
    yield from _unseen_row_waits(facts)
    yield from goings_on(facts.sessions)
    yield from lagging(facts.replicas, most_replica_lag_s)


def _full_disk(full: FullDisk) -> Finding:
    return Finding(
        "disk_full",
        Severity.CRITICAL,
        f"the disk of {full.folder} is full: {full.free_bytes >> 20} MB are free, and what writes waits for space",
        (),
        FULL_DISK,
    )


def _unseen_row_waits(facts: Facts) -> Iterator[Finding]:
    """Waits for rows whose number alone shows, since the account lacks PROCESS."""
    number = min(facts.before.row_waits, facts.after.row_waits)
    if number and facts.hidden and not facts.locks.transactions:
        waiting = "1 transaction waits" if number == 1 else f"{number} transactions wait"
        yield Finding(
            "lock_holder_unknown",
            Severity.NOTICE,
            f"{waiting} for rows that others have locked; who holds them cannot be seen without PROCESS",
        )


def no_login(where: str, reason: str) -> Diagnosis:
    """What it means that a server takes a connection and does not answer it, where no extra port is known.

    Args:
        where: The server.
        reason: What was seen, as a sentence.
    """
    return Diagnosis(
        (
            Finding(
                "no_login",
                Severity.CRITICAL,
                f"the pool of {where} has no thread for a login, so that it is stuck or saturated; nothing more can be "
                "seen through its normal port",
                (reason, "a long statement under a long thread_pool_stall_limit looks the same"),
                (
                    "name its extra port: E=PORT in the DSN, or extra-port under [poolpilot] in the defaults file",
                    "where it has none, put this into its my.cnf and restart it:",
                    *EXTRA_PORT_LINES,
                ),
            ),
        )
    )
