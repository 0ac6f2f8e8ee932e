"""What control groups leave to a process is read in both of their versions, along the whole way up."""

import os
from pathlib import Path

import pytest
from tests.mariadb.host.conftest import Folder, v1, v2

from poolpilot.mariadb.host.cpu_quota import CpuQuota, UsableCpus, whole_cpus
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.quota_periods import Throttling

V2_STAT = "usage_usec 5\nuser_usec 4\nsystem_usec 1\nnr_periods 91\nnr_throttled 80\nthrottled_usec 5000000\n"
V1_STAT = "nr_periods 91\nnr_throttled 80\nthrottled_time 5000000000\nnr_bursts 0\nburst_time 0\n"
COUNTED = Throttling(91.0, 80.0, 5e6)


def quota_of(root: Path) -> CpuQuota:
    return CpuQuota.read(7, proc=root / "proc", cgroups=root / "cgroup")


@pytest.mark.parametrize(
    ("files", "cpus"),
    [
        (v2("/a", {"a": "40000 100000"}), 0.4),
        (v2("/a", {"a": "150000 100000\n"}), 1.5),
        (v2("/a", {"a": "210000 200000"}), 1.05),
        (v2("/a", {"a": "1000 1000000"}), 0.001),
        (v2("/a", {"a": "max 100000"}), None),
        (v2("/a", {"a": "max"}), None),
        (v2("/", {".": "250000 100000"}), 2.5),
        (v2("/a/b", {"a": "150000 100000", "a/b": "400000 100000"}), 1.5),
        (v2("/a/b", {"a": "400000 100000", "a/b": "150000 100000"}), 1.5),
        (v2("/a/b/c", {"a": "50000 100000", "a/b": "max 100000", "a/b/c": "200000 100000"}), 0.5),
        (v1("/docker/1", {"docker/1": ("200000", "50000"), ".": ("-1", "100000")}), 4.0),
        (v1("/a", {"a": ("-1", "100000")}), None),
        (v1("/a/b", {"a": ("40000", "100000"), "a/b": ("-1", "100000")}), 0.4),
        (v1("/host/only", {".": ("50000", "100000")}), 0.5),  # a container that sees its own group as the root
    ],
)
def test_the_tightest_limit_on_the_way_up_counts_as_a_fraction(
    folder: Folder, files: dict[str, str], cpus: float | None
) -> None:
    found = quota_of(folder(files))
    assert (found.cpus, found.faults) == (cpus, ())


@pytest.mark.parametrize("name", ["cpu,cpuacct", "cpuacct,cpu", "cpu"])
@pytest.mark.parametrize("mounted", ["cpu,cpuacct", "cpuacct,cpu", "cpu"])
def test_controller_of_version_1_is_found_whatever_its_folder_is_called(
    folder: Folder, name: str, mounted: str
) -> None:
    files = {
        **v1("/a", {"a": ("50000", "100000")}, mounted),
        "proc/7/cgroup": f"9:memory:/b\n4:{name}:/a\n3:cpuset:/a\n",
    }
    assert quota_of(folder(files)).cpus == 0.5


def test_host_with_both_versions_takes_the_tighter_of_the_two(folder: Folder) -> None:
    first, second = v1("/a", {"a": ("150000", "100000")}), v2("/b", {"b": "50000 100000"}, "cgroup/unified")
    files = {**first, **second, "proc/7/cgroup": first["proc/7/cgroup"] + second["proc/7/cgroup"]}
    assert quota_of(folder(files)).cpus == 0.5


def test_group_of_version_2_may_be_called_like_the_folder_of_both(folder: Folder) -> None:
    files = {**v2("/unified", {"unified": "50000 100000"}), "cgroup/cgroup.controllers": "cpu\n"}
    assert quota_of(folder(files)).cpus == 0.5


@pytest.mark.parametrize(
    "files",
    [{}, {"proc/7/cgroup": ""}, {"proc/7/cgroup": "0::/a\n"}, {"proc/7/cgroup": "9:memory:/a\n"}],
    ids=["gone", "in none", "no file", "no controller"],
)
def test_where_nothing_is_there_nothing_is_said(folder: Folder, files: dict[str, str]) -> None:
    assert quota_of(folder(files)) == CpuQuota(None, {})


@pytest.mark.parametrize(
    "said",
    ["0 100000", "100000 0", "nonsense", "1e5 100000", "-5 100000", "100000", "NaN NaN", f"{'9' * 400} 1", "\xff"],
)
def test_limit_that_is_none_is_told_and_the_others_count(folder: Folder, said: str) -> None:
    found = quota_of(folder(v2("/a/b", {"a": "150000 100000", "a/b": said})))
    assert found.cpus == 1.5
    (fault,) = found.faults
    assert fault.startswith("the CPU quota of ")
    assert fault.endswith(", which limits nothing")
    assert len(fault) < 300


@pytest.mark.parametrize("limit", [("0", "100000"), ("50000", "0"), ("50000", "")])
def test_limit_of_version_1_that_is_none_is_told(folder: Folder, limit: tuple[str, str]) -> None:
    found = quota_of(folder(v1("/a", {"a": limit})))
    assert found.cpus is None
    assert len(found.faults) == 1


def test_file_that_cannot_be_read_is_told_and_the_others_count(folder: Folder) -> None:
    root = folder(v2("/a/b", {"a": "150000 100000"}))
    (root / "cgroup/a/b/cpu.max").mkdir(parents=True)
    found = quota_of(root)
    assert found.cpus == 1.5
    assert found.faults == (f"{root}/cgroup/a/b/cpu.max cannot be read (Is a directory)",)


def test_groups_that_cannot_be_told_are_said_to_be(folder: Folder) -> None:
    root = folder({})
    (root / "proc/7/cgroup").mkdir(parents=True)
    assert quota_of(root).faults == (f"{root}/proc/7/cgroup cannot be read (Is a directory)",)


def test_group_outside_of_what_is_seen_is_never_taken_for_ones_own(folder: Folder) -> None:
    found = quota_of(folder({"proc/7/cgroup": "0::/../../a\n", "cgroup/cpu.max": "50000 100000\n"}))
    assert found.cpus is None
    assert found.faults == ("the control group /../../a is outside of those that are seen from here",)


@pytest.mark.parametrize(
    "files", [v2("/a", {"a": "40000 100000"}, stat=V2_STAT), v1("/a", {"a": ("4", "10")}, stat=V1_STAT)]
)
def test_throttled_periods_are_counted_in_both_versions(folder: Folder, files: dict[str, str]) -> None:
    assert list(quota_of(folder(files)).throttling.values()) == [COUNTED]


@pytest.mark.parametrize(
    "stat", ["", "usage_usec 5\n", "nr_periods 9\n", "nr_periods x\nnr_throttled 1\nthrottled_usec 1", "a b c\n"]
)
def test_where_throttled_periods_are_not_told_nothing_is_lost_and_nothing_said(folder: Folder, stat: str) -> None:
    assert quota_of(folder(v2("/a", {"a": "40000 100000"}, stat=stat))) == CpuQuota(0.4, {})


def test_throttled_periods_that_cannot_be_read_are_left_out(folder: Folder) -> None:
    root = folder(v2("/a", {"a": "40000 100000"}))
    (root / "cgroup/a/cpu.stat").mkdir()
    assert quota_of(root) == CpuQuota(0.4, {})


@pytest.mark.parametrize(
    ("allowed", "quota", "cpus", "whole"),
    [(8, None, 8, 8), (8, 1.5, 1.5, 2), (2, 16.0, 2, 2), (4, 0.2, 0.2, 1), (2, 1.05, 1.05, 2), (1, 0.001, 0.001, 1)],
)
def test_processors_are_those_allowed_and_paid_for(allowed: int, quota: float | None, cpus: float, whole: int) -> None:
    usable = UsableCpus(allowed, CpuQuota(quota, {}))
    assert (usable.cpus, whole_cpus(usable.cpus)) == (cpus, whole)


def test_process_that_is_gone_has_no_processors() -> None:
    assert ServerProcess(2**22 + 1).cpus() is None


def test_own_process_has_as_many_as_it_may_use_at_most() -> None:
    usable = ServerProcess(os.getpid()).cpus()
    assert usable is not None
    assert 0.0 < usable.cpus <= len(os.sched_getaffinity(0)) == usable.allowed
