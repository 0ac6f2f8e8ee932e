"""Which processors a server on this machine gets, and which are left to its load."""

import os

from poolpilot.errors import SettingError


def split_cpus(server_cpus: int) -> tuple[list[int], list[int]]:
    """The numbers of the first processors that this process may run on, for the server, and of the others.

    Raises:
        SettingError: There are fewer than the server wants.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if not 1 <= server_cpus <= len(allowed):
        raise SettingError(f"the workload wants {server_cpus} processors, but 1..{len(allowed)} may be used here")
    return allowed[:server_cpus], allowed[server_cpus:]
