"""States in which sessions stand, as the process list calls them, and what lets those who stand there go on."""

from collections.abc import Mapping

WITHOUT_REPLICA = (
    "a replica that acknowledges, or rpl_semi_sync_master_timeout, lets them go on; see Rpl_semi_sync_master_status",
    "SET GLOBAL rpl_semi_sync_master_enabled = OFF;",
    "lets commits go on without a replica: what is lost with this server then is on no other",
)
COMMITS = (
    "they wait for one another's commit: see to the disk of the binary log and of InnoDB's log, and to its free space",
)
FLUSHES = ("FLUSH waits for every statement that uses the table: end the longest, or the FLUSH",)
FULL_DISK = ("free space on the server's disk: the server tries again by itself, at most a minute later",)
QUERY_CACHE = ("SET GLOBAL query_cache_type = OFF;", "one lock guards the query cache: without it nobody waits for it")
TABLE_CACHE = (
    "compare Opened_tables with table_open_cache: where it rises by the second, a larger cache helps; else see to the "
    "disk with the tables",
)
LOGINS = ("see to the name servers that the server asks, or put skip_name_resolve = ON into my.cnf",)
CLUSTER = ("a node of the cluster holds the others back: see wsrep_flow_control_paused, and which node is behind",)
CLIENTS = ("their clients do not take their results: see to the clients, and to the network between",)

STATES: Mapping[str, tuple[str, ...]] = {
    "waiting for semi-sync ack": WITHOUT_REPLICA,
    "waiting for semi-sync": WITHOUT_REPLICA,
    "waiting for prior transaction": COMMITS,
    "waiting for other": COMMITS,
    "waiting for commit": COMMITS,
    "waiting for group commit": COMMITS,
    "commit": COMMITS,
    "query end": COMMITS,
    "waiting for table flush": FLUSHES,
    "waiting for tables": FLUSHES,
    "flushing tables": FLUSHES,
    "waiting for someone to free space": FULL_DISK,
    "waiting for disk space": FULL_DISK,
    "waiting for query cache": QUERY_CACHE,
    "checking query cache": QUERY_CACHE,
    "storing result in query cache": QUERY_CACHE,
    "invalidating query cache": QUERY_CACHE,
    "opening tables": TABLE_CACHE,
    "opening table": TABLE_CACHE,
    "closing tables": TABLE_CACHE,
    "login": LOGINS,
    "wsrep": CLUSTER,
    "waiting for certification": CLUSTER,
    "waiting on wsrep": CLUSTER,
    "writing to net": CLIENTS,
    "sending to client": CLIENTS,
    "reading from net": CLIENTS,
}
"""How a state begins, in small letters, and what helps there; releases differ in how it ends."""

AT_WORK = (
    "",
    "executing",
    "sending data",
    "sorting",
    "creating sort index",
    "copying to tmp table",
    "copy to tmp table",
    "statistics",
    "updating",
    "update",
    "init",
    "optimizing",
    "preparing",
    "filling schema table",
    "user sleep",
)
"""States of statements that compute, read or sleep as they were told to: nobody else is waited for."""


def what_helps(state: str) -> tuple[str, ...] | None:
    """What lets sessions of a state go on; empty where that is not known, None where the state is one of work.

    Args:
        state: In the server's words.
    """
    small = state.casefold()
    if known := [start for start in STATES if small.startswith(start)]:
        return STATES[max(known, key=len)]
    return None if small in AT_WORK or small.startswith(("sorting", "copying to tmp table")) else ()
