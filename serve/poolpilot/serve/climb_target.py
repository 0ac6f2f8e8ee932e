"""The server that a climb runs on, with what to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poolpilot.agent.warm_start import WarmStartSettings
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer


@dataclass(frozen=True, slots=True)
class ClimbTarget:
    """An open server and what to know about it.

    Attributes:
        server: The server.
        name: What it is called.
        objective: What is climbed on.
        origin: What it is and under which load, fit for JSON.
        goodput: What its goodput is called.
        looks: How a predictor looks at it.
    """

    server: PoolServer
    name: str
    objective: Objective
    origin: Mapping[str, Any]
    goodput: str = "goodput 1/s"
    looks: WarmStartSettings = field(default_factory=WarmStartSettings)
