"""Folders of control groups as the kernel lays them out, and the groups of process 7 in them."""

from collections.abc import Callable
from pathlib import Path

import pytest

Folder = Callable[[dict[str, str]], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes files below a folder, by their paths there."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, encoding="latin-1")
        return tmp_path

    return write


def v2(group: str, limits: dict[str, str], root: str = "cgroup", stat: str = "") -> dict[str, str]:
    """Version 2: what `cpu.max` says by group, and the `cpu.stat` of the innermost."""
    files = {f"{root}/{name}/cpu.max": said for name, said in limits.items()}
    return {"proc/7/cgroup": f"0::{group}\n", **files, **_stat(f"{root}{group}", stat)}


def v1(group: str, limits: dict[str, tuple[str, str]], folder: str = "cpu,cpuacct", stat: str = "") -> dict[str, str]:
    """Version 1: quota and period by group, and the `cpu.stat` of the innermost."""
    files = {"proc/7/cgroup": f"9:memory:{group}\n4:cpu,cpuacct:{group}\n3:cpuset:{group}\n"}
    for name, (quota, period) in limits.items():
        files[f"cgroup/{folder}/{name}/cpu.cfs_quota_us"] = f"{quota}\n"
        files[f"cgroup/{folder}/{name}/cpu.cfs_period_us"] = f"{period}\n"
    return {**files, **_stat(f"cgroup/{folder}{group}", stat)}


def _stat(group: str, stat: str) -> dict[str, str]:
    return {f"{group}/cpu.stat": stat} if stat else {}
