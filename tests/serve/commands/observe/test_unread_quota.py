"""A CPU quota that is there and cannot be read: one sentence, and what can be known without it goes on."""

from collections.abc import Callable
from typing import Any

import pytest

from poolpilot.lab.instance import Lab
from poolpilot.mariadb.host.cpu_quota import CpuQuota, UsableCpus
from poolpilot.mariadb.host.process import ServerProcess

FAULT = "the CPU quota of /sys/fs/cgroup/a is '0 100000', which limits nothing"


def test_one_sentence_and_the_rest_goes_on(
    invoke: Callable[..., Any], lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServerProcess, "cpus", lambda _: UsableCpus(2, CpuQuota(None, {}, (FAULT,))))
    result = invoke("check", f"F={lab.defaults_file}")
    assert result.code == 0
    assert (result.out + result.err).replace("\n", " ").count(FAULT) == 1
    assert "Traceback" not in result.err
