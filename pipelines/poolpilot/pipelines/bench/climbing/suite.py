"""Where controllers are compared: cells, and one run of a controller in a cell."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self

from poolpilot.pipelines.bench.climbing.score import Score


@dataclass(frozen=True, slots=True)
class Task:
    """One run to do.

    Attributes:
        controller: Name of the controller.
        cell: Name of the cell.
        seed: Number of the repeat; the same one gives every controller the same noise.
    """

    controller: str
    cell: str
    seed: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was done.

    Attributes:
        task: What was to do.
        score: What came of it.
    """

    task: Task
    score: Score

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {**asdict(self.task), "score": asdict(self.score)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuilds a run from `as_dict`."""
        score = Score(**values["score"])
        return cls(Task(values["controller"], values["cell"], values["seed"]), score)


class Suite(Protocol):
    """A backend with its cells; it must be possible to send one to another process."""

    def tasks(self) -> list[Task]:
        """Every run of the comparison, controllers interleaved."""

    def run(self, task: Task) -> Score:
        """Does one of them."""

    def describe(self, cell: str) -> dict[str, Any]:
        """What a cell is, fit for JSON."""
