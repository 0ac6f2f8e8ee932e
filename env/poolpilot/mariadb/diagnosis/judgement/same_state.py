"""Sessions that all stand in one state: reported to the pool or not, that is what the server waits for."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.goings_on import LONG_S
from poolpilot.mariadb.diagnosis.judgement.known_states import what_helps
from poolpilot.mariadb.diagnosis.listed_session import ListedSession

PILE = 3
"""Sessions from which on a state that all share is told, though nothing is known of it."""

MOST_NAMED = 5


def same_state(facts: Facts, explained: Collection[int]) -> Iterator[Finding]:
    """States in which sessions have been since the first reading, the most sessions first.

    Args:
        facts: What was seen.
        explained: Sessions of which it is said elsewhere whom they wait for.
    """
    least_s = max(facts.span_s, LONG_S)
    standing = [one for one in facts.sessions if not one.is_idle and one.since_s >= least_s]
    in_state: dict[str, list[ListedSession]] = defaultdict(list)
    for one in standing:
        if one.number not in explained:
            in_state[one.state].append(one)
    for state, sessions in sorted(in_state.items(), key=lambda pair: -len(pair[1])):
        helps = what_helps(state)
        is_all = len(sessions) >= PILE and len(sessions) == len(standing) and not facts.ended
        if helps or (helps is not None and is_all):
            yield _finding(facts, state, sessions, helps)


def _finding(facts: Facts, state: str, sessions: list[ListedSession], helps: tuple[str, ...]) -> Finding:
    longest = max(sessions, key=lambda one: one.since_s)
    running = sum(not one.is_idle for one in facts.sessions)
    return Finding(
        "same_state",
        _severity(len(sessions), is_all=len(sessions) == running and not facts.ended),
        f"{len(sessions)} of {running} sessions that run a statement are in the state {state!r}, the longest for "
        f"{longest.since_s:.0f} s",
        tuple(
            f"{one} runs {one.kind or one.command} for {one.since_s:.0f} s"
            for one in sorted(sessions, key=lambda one: -one.since_s)[:MOST_NAMED]
        ),
        helps,
        tuple(one.number for one in sessions[:MOST_NAMED]),
    )


def _severity(number: int, *, is_all: bool) -> Severity:
    if number == 1:
        return Severity.WARNING if is_all else Severity.NOTICE
    return Severity.CRITICAL if is_all else Severity.WARNING
