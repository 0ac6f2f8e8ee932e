"""Logs of tuners: recorded ones, and ones that a test writes line by line.

The recorded ones are of `poolpilot tune --backend simulated --seed 3` with a day's time added to their clocks: db1 with
`--mode apply`, db2 with `--mode apply --family latch_beside_cpu --propose 32,8,10`, which rolls back, and db3 without
either, which advises.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.serve.tuner.conftest import Drive, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading
from poolpilot.serve.tuner.machine.memory import Memory

RECORDED = Path(__file__).parent / "recorded"


@dataclass
class WrittenLog:
    """A tuner on a formula, and the log that it writes.

    Attributes:
        folder: Where it writes.
        server: What its server is called.
        largest_bytes: Size from which on it begins a new file.
        drive: The tuner.
    """

    folder: Path
    server: str = "db1"
    largest_bytes: int = 1 << 20
    drive: Drive = field(default_factory=lambda: Drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03))

    def __post_init__(self) -> None:
        self.log = DecisionLog(self.folder, self.server, self.largest_bytes)
        self.log.begin_file(self.drive.rules)

    def turn(self, turns: int = 1, **changes: object) -> None:
        """So many decisions; `changes` are fields of their looks."""
        for _ in range(turns):
            before: Memory = self.drive.memory
            self.drive.turn(**changes)
            self.log.write(before, self.drive.observations[-1], self.drive.decision)

    def until(self, state: State, most: int = 400) -> None:
        """Decisions until a state is entered.

        Raises:
            AssertionError: It never is.
        """
        for _ in range(most):
            self.turn()
            if self.drive.decision.state is state:
                return
        raise AssertionError(f"never came to {state}; last: {self.drive.decision}")

    def lose(self) -> None:
        """A trial under which the connection is lost for two windows, the way back, and the window after it."""
        self.until(State.TRIAL)
        self.turn(2, in_force=None, reading=None)
        self.turn(2)

    def say(self, reason: str, *hindrances: Hindrance) -> None:
        """A decision with a reason of one's own, while something may go on beside the pool."""
        before = self.drive.memory
        observation = self.drive.observation(
            reading=Reading(goodput_per_s=1.0, throughput_per_s=1.0, seconds=5.0), hindrances=hindrances
        )
        self.log.write(before, observation, before.decision(reason))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., WrittenLog]:
    """Begins a log in the folder of the test, or in one below it."""
    made: list[WrittenLog] = []

    def begin(below: str = "", **values: object) -> WrittenLog:
        made.append(WrittenLog(tmp_path / below, **values))  # type: ignore[arg-type]
        return made[-1]

    return begin


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The recorded logs, as if written just now."""
    folder = tmp_path / "recorded"
    for path in RECORDED.iterdir():
        (folder / path.name).mkdir(parents=True)
        shutil.copyfile(path / "decisions.jsonl", folder / path.name / "decisions.jsonl")
    return folder
