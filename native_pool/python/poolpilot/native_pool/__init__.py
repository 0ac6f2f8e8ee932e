"""The C++ core: live pool server, load generator, simulator and climbers; and the workloads that they serve.

Examples:
    >>> from poolpilot.native_pool import RequestClass, Step, Workload
    >>> query = RequestClass("query", (Step("cpu", us=200.0), Step("wait", us=2000.0, kind="disk_io")))
    >>> Workload("disk", "mine", (query,), connections=32).cpus
    2
"""

from poolpilot.native_pool._core import (
    Climber,
    KnobClimber,
    LivePool,
    LoadGenerator,
    QueueRule,
    QueueSpec,
    RequestQueues,
    SpectralClimber,
    SpectralSettings,
)
from poolpilot.native_pool.workload import RequestClass, Step, Workload

__all__ = [
    "Climber",
    "KnobClimber",
    "LivePool",
    "LoadGenerator",
    "QueueRule",
    "QueueSpec",
    "RequestClass",
    "RequestQueues",
    "SpectralClimber",
    "SpectralSettings",
    "Step",
    "Workload",
]
