"""What control groups leave to a process is read in both of their versions, along the whole way up."""

from pathlib import Path

import pytest

from poolpilot.env.mariadb.host.cpu_quota import cpu_quota
from poolpilot.env.mariadb.host.process import ServerProcess, usable_cpus


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def quota_of(root: Path) -> float | None:
    return cpu_quota(7, proc=root / "proc", cgroups=root / "cgroup")


def test_version_2_takes_the_tightest_group_on_the_way_up(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "proc/7/cgroup": "0::/system.slice/docker-1\n",
            "cgroup/system.slice/cpu.max": "150000 100000\n",
            "cgroup/system.slice/docker-1/cpu.max": "400000 100000\n",
        },
    )
    assert quota_of(tmp_path) == 1.5


def test_version_1_reads_the_controller_of_processor_time_alone(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "proc/7/cgroup": "9:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n3:cpuset:/docker/1\n",
            "cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us": "200000\n",
            "cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us": "50000\n",
            "cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )
    assert quota_of(tmp_path) == 4.0


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/7/cgroup": "0::/a\n"},
        {"proc/7/cgroup": "0::/a\n", "cgroup/a/cpu.max": "max 100000\n"},
        {"proc/7/cgroup": "0::/../../a\n", "cgroup/cpu.max": "nonsense\n"},
    ],
    ids=["gone", "no file", "no limit", "no numbers"],
)
def test_without_a_limit_that_can_be_read_there_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    assert quota_of(written(tmp_path, files)) is None


@pytest.mark.parametrize(("allowed", "quota", "cpus"), [(8, None, 8), (8, 1.5, 2), (2, 16.0, 2), (4, 0.2, 1)])
def test_processors_are_those_allowed_and_paid_for(allowed: int, quota: float | None, cpus: int) -> None:
    assert usable_cpus(allowed, quota) == cpus


def test_process_that_is_gone_has_no_processors() -> None:
    assert ServerProcess(2**22 + 1).cpus() is None
