"""What the holders of locks do that others wait for, and what makes them let go."""

from collections.abc import Iterator, Mapping

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, FindingKind, Severity
from poolpilot.mariadb.diagnosis.goings_on import LONG_S
from poolpilot.mariadb.diagnosis.judgement.held_groups import stuck_groups
from poolpilot.mariadb.diagnosis.judgement.lock_holds import LockHold, LockKind
from poolpilot.mariadb.diagnosis.judgement.stuck_finding import enough_threads
from poolpilot.mariadb.diagnosis.judgement.suspects import Likelihood
from poolpilot.mariadb.diagnosis.listed_session import ListedSession

WANTED: Mapping[LockKind, str] = {
    "rows": "rows that it has locked",
    "metadata": "the metadata lock of a table",
    "table": "a table as a whole",
    "all tables": "the lock on all tables (a stage of a backup, or FLUSH TABLES WITH READ LOCK)",
    "name": "a name that it has locked with GET_LOCK",
}

MOST_NAMED = 5
"""Sessions that are named where it is not known which of them holds a lock."""

TO_KNOW = (
    "who holds it is inferred: INSTALL SONAME 'metadata_lock_info', or performance_schema with the instrument "
    "wait/lock/metadata/sql/mdl, lets the server say it"
)
LOCKED = "who reads or writes rows is held off by LOCK TABLES or a change of the table alone, not by who uses it too"
ON_A_TABLE = ("metadata", "table")


def holder_finding(facts: Facts, hold: LockHold) -> Finding:
    """What to say of a lock that sessions wait for."""
    if not hold.holders:
        return _unknown(facts, hold)
    number = hold.holders[0].session
    kind, does, severity = _doing(facts, number)
    if hold.lock == "all tables":
        kind = "backup_lock"
    if hold.lock == "all tables" or (hold.lock in ON_A_TABLE and len(hold.waiters) > 1):
        severity = max(severity, Severity.WARNING)
    return Finding(
        kind,
        severity,
        f"{_waiting(hold)} {_wanted(hold)}, the longest for {hold.longest_s:.0f} s: {_who(facts, hold)} {does}",
        tuple(_evidence(facts, hold)),
        tuple(_remedies(facts, hold, kind)),
        tuple(one.session for one in hold.holders[:MOST_NAMED]),
    )


def _who(facts: Facts, hold: LockHold) -> str:
    """The first of those who hold a lock, and how surely it does."""
    first = _named(facts, hold.holders[0].session)
    if hold.likelihood is Likelihood.SHOWN:
        return first
    if len(hold.holders) == 1:
        return f"most likely {first}"
    number, how = len(hold.holders), _how(hold.likelihood)
    return f"{number} sessions could hold it, each of them {how}; the first is {first}, which"


def _how(likelihood: Likelihood) -> str:
    return likelihood.name.lower()


def _wanted(hold: LockHold) -> str:
    if hold.table and hold.lock in ON_A_TABLE:
        return f"{WANTED[hold.lock]}, {hold.table}"
    return WANTED[hold.lock] + (f" in {hold.table}" if hold.table else "")


def _waiting(hold: LockHold) -> str:
    number = len(hold.waiters)
    return "1 session waits for" if number == 1 else f"{number} sessions wait for"


def _named(facts: Facts, number: int) -> str:
    if number == 0:
        return "a prepared XA transaction, which no session has,"
    session = facts.session_of.get(number)
    return str(session) if session else f"session {number}"


def _doing(facts: Facts, number: int) -> tuple[FindingKind, str, Severity]:
    """What a holder does: its request is queued or could not be taken up, it is idle, or it runs a statement."""
    session, request = facts.session_of.get(number), facts.queued_of.get(number)
    if request is not None and request.since_s >= LONG_S:
        does = f"has sent its next statement, which has been in the pool's queue for {request.since_s:.1f} s"
        return "lock_holder_queued", f"{does} and finds no thread", Severity.CRITICAL
    if session is None or not session.is_idle:
        return "lock_holder_running", f"runs {_statement(session)}" if session else "holds it", Severity.NOTICE
    if is_cut_off(facts, number):
        does = f"has been idle for {session.since_s:.0f} s, and no thread would take up what it sends, a COMMIT too"
        return "lock_holder_queued", does, Severity.CRITICAL
    if request is not None:
        return "lock_holder_running", "has just sent its next statement", Severity.NOTICE
    transaction = facts.transaction_of.get(number)
    within = f" in a transaction that is {transaction.age_s} s old" if transaction else ""
    return "lock_holder_idle", f"has been idle for {session.since_s:.0f} s{within}", Severity.WARNING


def _statement(session: ListedSession) -> str:
    state = f", {session.state}" if session.state else ""
    return f"{session.kind or session.command} ({session.since_s:.0f} s{state})"


def _what_it_waits_for(facts: Facts, hold: LockHold) -> Iterator[str]:
    """What a lock on all tables that is not had yet waits for: the statement that has run longest."""
    session = facts.session_of.get(hold.holders[0].session)
    if session is None or not session.waits_for_read_lock:
        return
    running = [one for one in facts.sessions if not one.is_idle and not one.waits_for_read_lock]
    if older := [one for one in running if one.since_s >= session.since_s]:
        longest = max(older, key=lambda one: one.since_s)
        yield f"{session} does not have it yet; most likely it waits for {longest}, {_statement(longest)}"


def is_cut_off(facts: Facts, number: int) -> bool:
    """Whether the group of a session stands and gets no more threads; a session's number tells its group."""
    return facts.is_exhausted and any(one.number == number % facts.limits.size for one in stuck_groups(facts))


def _evidence(facts: Facts, hold: LockHold) -> Iterator[str]:
    shown = ", ".join(map(str, hold.waiters[:MOST_NAMED]))
    more = f" and {len(hold.waiters) - MOST_NAMED} more" if len(hold.waiters) > MOST_NAMED else ""
    yield f"waiting: {shown}{more}"
    yield from _what_it_waits_for(facts, hold)
    for one in hold.holders[1:MOST_NAMED]:
        yield f"{_how(one.likelihood)} too: {_named(facts, one.session)} {_doing(facts, one.session)[1]}"
    yield from _ruled_out(facts, hold)
    if hold.needs_lock_tables:
        yield LOCKED
    if hold.likelihood is not Likelihood.SHOWN and hold.lock != "name":
        yield TO_KNOW


def _ruled_out(facts: Facts, hold: LockHold) -> Iterator[str]:
    for number in hold.ruled_out[:MOST_NAMED]:
        yield f"ruled out by what it can hold: {_named(facts, number)}, which {_doing(facts, number)[1]}"


def _remedies(facts: Facts, hold: LockHold, kind: FindingKind) -> Iterator[str]:
    number = hold.holders[0].session
    if number == 0:
        yield "XA RECOVER; then XA COMMIT or XA ROLLBACK"
        return
    if is_stuck_behind(facts, number):
        yield f"SET GLOBAL thread_pool_max_threads = {enough_threads(facts)};"
        yield "lets its next statement run, and with its COMMIT the others; keep that value in my.cnf"
        beside = [one for one in hold.waiters if one % facts.limits.size == number % facts.limits.size]
        if beside:
            yield f"KILL QUERY {beside[0]};"
            yield "ends the statement of one that waits in the same group; its thread serves the queue: run it again"
        return
    if hold.lock == "all tables":
        yield "its client ends the backup, or sends UNLOCK TABLES"
    elif kind == "lock_holder_running":
        yield "wait for the end of its statement and its transaction"
    else:
        yield f"its client sends {_lets_go(hold)}"
    if hold.change:
        yield f"KILL QUERY {hold.change};"
        yield "ends the change that waits itself; those who wait behind it go on at once"
    yield from _ends(hold)
    if kind == "lock_holder_idle" and hold.lock != "name":
        yield "idle_transaction_timeout in my.cnf ends transactions that are idle for so many seconds"


def _lets_go(hold: LockHold) -> str:
    if hold.lock in ON_A_TABLE:
        return "COMMIT or ROLLBACK, or UNLOCK TABLES"
    return "COMMIT or ROLLBACK" + (", or RELEASE_LOCK" if hold.lock == "name" else "")


def _ends(hold: LockHold) -> Iterator[str]:
    """The lines that end those who are shown to hold a lock; nobody is to be ended on suspicion."""
    if hold.likelihood is not Likelihood.SHOWN:
        yield "end nobody before it is known who holds it"
        return
    yield from (f"KILL {one.session};" for one in hold.holders[:MOST_NAMED])
    yield "closes its session, which gives its locks back and rolls its transaction back"


def is_stuck_behind(facts: Facts, number: int) -> bool:
    """Whether what a holder sends finds no thread because the pool stands."""
    return facts.is_exhausted and (is_cut_off(facts, number) or number in facts.queued_of)


def _unknown(facts: Facts, hold: LockHold) -> Finding:
    """A lock of which nobody who could hold it is seen."""
    kind: FindingKind = "backup_lock" if hold.lock == "all tables" else "lock_holder_unknown"
    what = WANTED[hold.lock].replace("it has locked", "somebody has locked")
    if hold.lock == "name":
        evidence, ends = "their statements do not spell it", "left alone, such a wait ends when GET_LOCK gives up"
    else:
        evidence, ends = TO_KNOW, f"left alone, it ends after lock_wait_timeout = {facts.limits.definition_wait_s} s"
    return Finding(
        kind,
        Severity.WARNING,
        f"{_waiting(hold)} {what}, the longest for {hold.longest_s:.0f} s; who holds it is not known",
        (*_ruled_out(facts, hold), *([LOCKED] if hold.needs_lock_tables else []), evidence),
        (ends,),
    )
