"""The report of the demonstration of production, written anew whenever more is known: what is cut short is kept."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poolpilot.env.output import write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen
from poolpilot.pipelines.demo.production.production_report import arms_as_dict
from poolpilot.serve.commands.production.incidents import GivenBack, RolledBack
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings


@dataclass
class KeptReport:
    """What is known so far.

    Attributes:
        settings: Of the demonstration.
        paths: Where it is written.
        rolled_back: What became of the planted prediction.
        given_back: What became of the tuple of the killed tuner.
        arms: What was seen of each phase, by the name of the arm.
        default: The tuple that the server starts with.
        best: The best constant.
        constants: The constants that it was chosen from, with what each completed.
        finished: Whether all of it has been run.
    """

    settings: ProductionDemoSettings
    paths: Sequence[Path | None]
    rolled_back: RolledBack
    given_back: GivenBack
    arms: dict[str, Sequence[PhaseSeen]] = field(default_factory=dict)
    default: PoolTuple | None = None
    best: PoolTuple | None = None
    constants: Sequence[dict[str, Any]] = ()
    finished: bool = False
    _began_s: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long the demonstration has run."""
        return time.monotonic() - self._began_s

    def write(self) -> None:
        """Writes it in place of what was known before, or of the report of an earlier run.

        Raises:
            SettingError: It cannot be written.
        """
        known = self.as_dict()
        for path in self.paths:
            write_json(path, known)

    def as_dict(self) -> dict[str, Any]:
        """What is known, fit for JSON; what is not yet is null or empty."""
        return {
            "finished": self.finished,
            "settings": self.settings.model_dump(mode="json"),
            "arms": arms_as_dict(self.arms),
            "default": None if self.default is None else list(self.default.core),
            "best_constant": None if self.best is None else list(self.best.core),
            "constants": list(self.constants),
            "planted": self.rolled_back.as_dict(),
            "killed": self.given_back.as_dict(),
            "seconds": self.seconds,
        }
