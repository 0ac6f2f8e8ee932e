"""Counters of a process: its sums never fall, and the machine's idle time counts where the machine is all its own."""

import os
from pathlib import Path

import pytest

from poolpilot.mariadb.host.cpu_quota import CpuQuota, UsableCpus
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.process_counters import ProcessCounters
from poolpilot.mariadb.host.quota_periods import Throttling

ALL = os.cpu_count() or 1
FEW = Throttling(10.0, 2.0, 5.0)
MORE = Throttling(30.0, 12.0, 25.0)


def told(monkeypatch: pytest.MonkeyPatch, *said: UsableCpus | None, named: int | None = None) -> ProcessCounters:
    answers = iter(said)
    monkeypatch.setattr(ServerProcess, "cpus", lambda _: next(answers))
    return ProcessCounters(ServerProcess(os.getpid()), 4096, named)


def usable(cpus: float | None = None, **groups: Throttling) -> UsableCpus:
    return UsableCpus(ALL, CpuQuota(cpus, {Path(name): counted for name, counted in groups.items()}))


def test_throttled_periods_add_up_and_never_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    first, later = usable(0.4, a=FEW), usable(0.4, a=MORE)
    counters = told(monkeypatch, first, later, first, later)
    read = [counters.read() for _ in range(3)]
    counters.close()
    assert [each["quota_periods"] for each in read] == [20.0, 20.0, 40.0]
    assert [each["quota_periods_throttled"] for each in read] == [10.0, 10.0, 20.0]
    assert [each["quota_throttled_us"] for each in read] == [20.0, 20.0, 40.0]


def test_without_control_groups_nothing_is_counted_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = told(monkeypatch, usable(), usable(), None)
    assert "quota_periods" not in counters.read()
    assert "process_cpu_us" in counters.read()
    counters.close()


@pytest.mark.parametrize(
    ("cpus", "named", "counts"),
    [
        (None, None, True),
        (ALL, None, True),
        (ALL - 0.95, None, False),
        (0.4, None, False),
        (None, ALL, True),
        (None, ALL + 1, False),
        (0.4, ALL, False),
    ],
)
def test_idle_time_of_the_machine_counts_for_who_may_use_all_of_it(
    monkeypatch: pytest.MonkeyPatch, cpus: float | None, named: int | None, counts: bool
) -> None:
    """A quota of 1.05 of two processors was taken for both: what others left idle was no time that the server had."""
    counters = told(monkeypatch, usable(cpus), usable(cpus), named=named)
    assert ("machine_idle_us" in counters.read()) is counts
    counters.close()
