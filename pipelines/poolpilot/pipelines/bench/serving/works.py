"""What clients ask for: nothing at all, as little as a lookup by key, or mostly the disk."""

from collections.abc import Mapping

from poolpilot.native_pool.workload import RequestClass, Step, Workload

WORKS: Mapping[str, tuple[Step, ...]] = {
    "null": (),
    "point_select": (Step("cpu", us=40.0, variation=0.3),),
    "io": (
        Step("cpu", us=20.0, variation=0.3),
        Step("wait", us=1000.0, variation=0.5, kind="disk_io", reported=True),
        Step("cpu", us=20.0, variation=0.3),
    ),
}
"""Steps of a request, by name; a lookup takes the tens of microseconds of a point select."""


def closed_loop(work: str, connections: int) -> Workload:
    """So many clients, each of which sends its next request once the last is answered."""
    return Workload(work, "serving", (RequestClass(work, WORKS[work]),), connections=connections, cpus=1)
