"""A server to tune, with what is wanted of it and its restoration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from poolpilot.env.objective import Objective
from poolpilot.env.server import AnyServer
from poolpilot.env.tuning.identity import ServerReached
from poolpilot.env.tuning.restoration import ApplyFirst, Restoration


@dataclass(frozen=True, slots=True)
class Target:
    """An open server under load and what to know about it; whoever opened it closes it.

    Attributes:
        server: The server.
        objective: What counts on it.
        name: What it, or the load on it, is called.
        restoration: How it gets back to where it was; by setting that again where nothing is said.
        origin: What it is and under which load, fit for JSON.
        goodput: What its goodput is called.
        warnings: What to know before anything is set, as sentences.
        oracle_value: Greatest J there is, if known.
        reached: Which server was reached by which way; None where one was started here.
        own_name: What tells it from all others, whatever way it was reached by; its name where nothing is said.
    """

    server: AnyServer
    objective: Objective
    name: str = ""
    restoration: Restoration = None  # type: ignore[assignment]  # never None once made
    origin: Mapping[str, Any] = field(default_factory=dict)
    goodput: str = "goodput 1/s"
    warnings: tuple[str, ...] = ()
    oracle_value: float | None = None
    reached: ServerReached | None = None
    own_name: str = ""

    def __post_init__(self) -> None:
        if self.restoration is None:
            object.__setattr__(self, "restoration", ApplyFirst(self.server))
        if not self.own_name:
            object.__setattr__(self, "own_name", self.name)
