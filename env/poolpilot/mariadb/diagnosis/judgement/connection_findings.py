"""Whether the server, or an account, has all the connections that it may have, so that a login is refused."""

from collections import Counter
from collections.abc import Iterator

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Diagnosis, Finding, Severity

NEARLY = 0.9
"""Share of max_connections from which on it is told that few are left."""

LARGEST_MAX_CONNECTIONS = 100_000
MOST_NAMED = 3


def connection_findings(facts: Facts) -> Iterator[Finding]:
    """What to say of the server's connections, and of those of accounts that are limited."""
    connected, most = facts.after.connected, facts.limits.most_connections
    refused = facts.after.refused - facts.before.refused
    if connected >= NEARLY * most:
        yield Finding(
            "max_connections",
            Severity.CRITICAL if connected >= most else Severity.WARNING,
            f"{connected} of max_connections = {most} connections are open: "
            + ("a further login is refused" if connected >= most else f"{most - connected} are left"),
            (*_refused(refused), *_who(facts)),
            tuple(_more(most)),
        )
    yield from _of_users(facts)


def _refused(refused: int) -> Iterator[str]:
    if refused > 0:
        yield f"{refused} logins came to nothing during this observation"


def _who(facts: Facts) -> Iterator[str]:
    """Who has the connections, and how many of them nobody uses."""
    if not facts.sessions:
        return
    accounts = Counter(one.account for one in facts.sessions).most_common(MOST_NAMED)
    yield "most of them: " + ", ".join(f"{number} of {account}" for account, number in accounts)
    if idle := [one for one in facts.sessions if one.is_idle]:
        longest_s = max(one.since_s for one in idle)
        yield f"{len(idle)} of them send nothing, the longest for {longest_s:.0f} s"


def _more(most: int) -> Iterator[str]:
    if most < LARGEST_MAX_CONNECTIONS:
        yield f"SET GLOBAL max_connections = {min(2 * most, LARGEST_MAX_CONNECTIONS)};"
        yield "an idle connection costs memory and no thread of the pool; keep that value in my.cnf"
    yield "or let clients close what they do not use: smaller pools of connections, a shorter wait_timeout"


def _of_users(facts: Facts) -> Iterator[Finding]:
    """Users that have all the connections that they may have."""
    limits = facts.limits
    for user, number in Counter(one.account.rpartition("@")[0] for one in facts.sessions).items():
        if not (most := limits.most_connections_of(user)) or number < most:
            continue
        own = user in limits.of_users
        more = f"ALTER USER ... WITH MAX_USER_CONNECTIONS {2 * most};" if own else None
        yield Finding(
            "max_connections",
            Severity.WARNING,
            f"the user {user} has {number} of {'MAX_USER_CONNECTIONS' if own else 'max_user_connections'} = {most} "
            "connections: its next login is refused",
            (),
            (
                more or f"SET GLOBAL max_user_connections = {2 * most};",
                "or let its clients close what they do not use; keep a new value in my.cnf",
            ),
        )


def no_connection_left(where: str, reason: str) -> Diagnosis:
    """What it means that a server refuses a login because a limit on connections is reached.

    Args:
        where: The server.
        reason: What was seen, as a sentence.
    """
    return Diagnosis(
        (
            Finding(
                "max_connections",
                Severity.CRITICAL,
                f"a limit on connections is reached: {where} refuses this login, so that no more can be seen",
                (reason,),
                (
                    "end a connection that nobody uses, or connect through another port",
                    "an account with CONNECTION ADMIN has one connection more than max_connections",
                    "an extra port has connections of its own: E=PORT in the DSN, or extra-port under [poolpilot]",
                ),
            ),
        )
    )
