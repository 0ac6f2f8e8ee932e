"""What a climb or a search may run on besides MariaDB: the live pool in this process, its simulation, or a curve."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.factory import own_target
from poolpilot.env.tuning.target import Target
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.workload_fields import workload_from_fields
from poolpilot.errors import SettingError
from poolpilot.native_pool.workload import Workload

EXAMPLE_CURVE: Table = ((1.0, 100.0), (16.0, 1200.0), (32.0, 1300.0), (64.0, 600.0))
"""Rises to 32 groups and falls beyond."""


class Backend(StrEnum):
    """What is tuned where no server is named."""

    NATIVE = "native"
    SIMULATED = "simulated"
    CURVE = "curve"


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """What the user asked for.

    Attributes:
        backend: The backend.
        family: Family to draw the workload from.
        seed: Seed of that draw and of the noise of a curve.
        workload: File of a workload instead.
        curve: File of a curve's points; the example if None.
        noise: Relative noise of a window on a curve.
        server: One's own server instead of all these, as `module:factory`.
    """

    backend: Backend
    family: str = "page_faults"
    seed: int = 1
    workload: Path | None = None
    curve: Path | None = None
    noise: float = 0.0
    server: str | None = None

    @contextmanager
    def opened(self) -> Iterator[Target]:
        """Opens the server for the duration of the block.

        Raises:
            SettingError: A file or an option is wrong, or does not belong to the backend.
            ServerError: The server cannot be started.
        """
        if self.server is not None:
            own = own_target(self.server)
            with own.server:
                yield own
            return
        if self.backend is Backend.CURVE:
            points = EXAMPLE_CURVE if self.curve is None else read_curve(self.curve)
            with CurveServer(points, noise=self.noise, seed=self.seed) as curve:
                origin: dict[str, Any] = {"backend": self.backend, "curve": points}
                yield Target(curve, Objective(), "a curve", origin=origin)
            return
        if self.curve is not None or self.noise > 0.0:
            raise SettingError(f"the settings curve and noise belong to --backend curve, not to {self.backend}")
        workload = draw(self.family, self.seed) if self.workload is None else read_workload(self.workload)
        origin = {"backend": self.backend, "workload": workload.as_dict()}
        simulated = self.backend is Backend.SIMULATED
        with SimulatedServer(workload) if simulated else NativeServer(workload) as server:
            objective = Objective.of_classes(workload.classes)
            yield Target(server, objective, workload.name, origin=origin)


def check_one_server(dsn: str | None, backend: Backend | None, server: str | None) -> None:
    """Refuses to tune two servers at once.

    Raises:
        SettingError: More than one is named.
    """
    if dsn is not None and backend is not None:
        raise SettingError(f"a DSN names a MariaDB server: leave out either it or --backend {backend}")
    if server is not None and (dsn is not None or backend is not None):
        raise SettingError(f"--server {server} is one's own server: leave out the DSN and --backend, or leave out it")


def draw(family: str, seed: int) -> Workload:
    """Draws a workload.

    Raises:
        SettingError: There is no such family.
    """
    if family not in FAMILIES:
        raise SettingError(f"there is no family {family!r}; there are {', '.join(sorted(FAMILIES))}")
    return draw_workload(FAMILIES[family], seed)


def read_workload(path: Path) -> Workload:
    """Reads a workload from JSON.

    Raises:
        SettingError: The file is missing or no workload; the sentence names the field.
    """
    try:
        return workload_from_fields(json.loads(path.read_bytes()))
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error
    except (SettingError, ValueError, RecursionError) as error:
        raise SettingError(f"{path} does not hold a workload: {error}") from error


def read_curve(path: Path) -> Table:
    """Reads the points of a curve from a JSON list of [pool size, completions a second].

    Raises:
        SettingError: The file is missing or holds something else.
    """
    try:
        points = [(float(size), float(throughput)) for size, throughput in json.loads(path.read_bytes())]
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingError(f"{path} does not hold a list of [pool size, throughput]: {error}") from error
    if not all(math.isfinite(number) for point in points for number in point):
        raise SettingError(f"{path} holds a number that is not finite")
    return points
