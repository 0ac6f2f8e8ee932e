"""A CPU quota that is used up is found, whatever share of the processors the server seems to use."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.mariadb.diagnosis.conftest import facts_of, group

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose
from poolpilot.mariadb.diagnosis.judgement.held_groups import used_up
from poolpilot.mariadb.host.quota_periods import Throttling

POD, OWN = Path("pod"), Path("pod/mariadb")
BEFORE = {POD: Throttling(100.0, 5.0, 9e5), OWN: Throttling(100.0, 40.0, 5e6)}
UNTHROTTLED = {POD: Throttling(120.0, 5.0, 9e5), OWN: Throttling(120.0, 41.0, 5.01e6)}
THROTTLED = {POD: Throttling(120.0, 5.0, 9e5), OWN: Throttling(120.0, 58.0, 6.2e6)}


def seen(after: dict[Path, Throttling], cpus: float = 2.0) -> Facts:
    """A queue in every group; one processor is used, and one idles."""
    facts = facts_of(group(0, queued=9), group(1, queued=9), server_share=0.5, idle_cpus=1.0)
    before, last = replace(facts.before, throttling=BEFORE), replace(facts.after, throttling=after)
    return replace(facts, before=before, after=last, cpus=cpus)


def test_quota_that_is_used_up_is_the_verdict_and_says_what_helps() -> None:
    """It was said that processors idle, and that a shorter stall limit helps, which made requests wait longer."""
    found = diagnose(seen(THROTTLED, cpus=0.4))
    (quota,) = found.of_kind("quota_used_up")
    assert quota.sentence.startswith("the CPU quota of 0.4 processors is used up: raise it")
    assert quota.evidence == ("the server was throttled in 18 of 20 periods of its quota, 1.2 s in all (cpu.stat)",)
    assert "nothing in the pool helps" in quota.remedies[0]
    said = " ".join(each for one in found.findings for each in (one.sentence, *one.remedies))
    assert "processors idle" not in said
    assert "stall_limit" not in said


@pytest.mark.parametrize("after", [UNTHROTTLED, BEFORE, {}])
def test_quota_that_is_not_used_up_is_not_named(after: dict[Path, Throttling]) -> None:
    facts = seen(after)
    assert not diagnose(facts).of_kind("quota_used_up")
    assert used_up(facts) is False


def test_processors_are_told_as_a_fraction() -> None:
    facts = seen(UNTHROTTLED, cpus=1.05)
    evidence = [each for one in diagnose(facts).findings for each in one.evidence]
    assert "the server uses 95 % of its 1.05 processors" in evidence
    assert used_up(facts) is True
