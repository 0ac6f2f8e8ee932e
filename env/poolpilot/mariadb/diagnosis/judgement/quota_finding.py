"""A CPU quota that is used up: processors are withheld from the server, which looks as if they idled."""

from collections.abc import Iterator

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.host.quota_periods import Throttling, most_throttled, used_up_in_words

REMEDIES = ("nothing in the pool helps: a larger quota does, and until then fewer or cheaper statements",)


def is_quota_used_up(facts: Facts) -> bool:
    """Whether processors were withheld between the readings."""
    return used_up_in_words(facts.cpus, _throttling(facts).share) is not None


def used_up_quota(facts: Facts) -> Iterator[Finding]:
    """That the quota is used up, where it is, and what helps."""
    throttling = _throttling(facts)
    if (said := used_up_in_words(facts.cpus, throttling.share)) is None:
        return
    evidence = (
        f"the server was throttled in {throttling.throttled:.0f} of {throttling.periods:.0f} periods of its quota, "
        f"{throttling.throttled_us / 1e6:.1f} s in all (cpu.stat)"
    )
    yield Finding("quota_used_up", Severity.WARNING, said, (evidence,), REMEDIES)


def _throttling(facts: Facts) -> Throttling:
    return most_throttled(facts.before.throttling, facts.after.throttling) or Throttling()
