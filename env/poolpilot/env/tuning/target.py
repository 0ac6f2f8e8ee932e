"""A server to tune, with what to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.way_back import WayBack


@dataclass(frozen=True, slots=True)
class Target:
    """An open server and what to know about it.

    Attributes:
        server: The server.
        name: What it is called.
        way_back: How it gets back to where it was.
        objective: What counts on it.
        origin: What it is and under which load, fit for JSON.
        goodput: What its goodput is called.
        warnings: What to know before anything is set, as sentences.
    """

    server: PoolServer
    way_back: WayBack
    name: str
    objective: Objective
    origin: Mapping[str, Any]
    goodput: str = "goodput 1/s"
    warnings: tuple[str, ...] = ()
