"""The first processors are the server's, the others the load's."""

import os

import pytest

from poolpilot.env.servers.processors import split_cpus
from poolpilot.errors import SettingError


def test_processors_are_split_between_server_and_load() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    assert split_cpus(len(allowed)) == (allowed, [])
    assert split_cpus(1) == (allowed[:1], allowed[1:])


@pytest.mark.parametrize("wanted", [0, 4096])
def test_more_than_there_are_is_refused(wanted: int) -> None:
    with pytest.raises(SettingError, match=rf"wants {wanted} processors, but 1\.\."):
        split_cpus(wanted)
