"""Which stages of a run are finished, and with what result: the file by which a stopped run goes on."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import SettingError, StoreError

NAME = "learning.json"


class StageRecord(BaseModel):
    """What is kept of a stage.

    Attributes:
        spent_s: Seconds that it has run for, over all attempts.
        notes: What it noted for itself on the way.
        result: What came of it; None until it is finished.
    """

    model_config = ConfigDict(extra="forbid")

    spent_s: float = 0.0
    notes: dict[str, Any] = Field(default_factory=dict)
    result: dict[str, Any] | None = None


class LearningRun(BaseModel):
    """A run.

    Attributes:
        settings: What it was started with, as far as that decides what comes of it.
        finished: Whether all stages are.
        run_id: Its MLflow run; None where it is not tracked.
        left_behind: MLflow run of the one before in this folder, which may have been killed; None where none is known.
        stages: Its stages by name.
    """

    model_config = ConfigDict(extra="forbid")

    settings: dict[str, Any]
    finished: bool = False
    run_id: str | None = None
    left_behind: str | None = None
    stages: dict[str, StageRecord] = Field(default_factory=dict)


class LearningJournal:
    """The journal of a folder; every change is on the disk when it returns.

    Args:
        folder: Folder that `poolpilot learn` writes to.
        settings: What this run is started with.
        anew: Whether a run that was stopped is given up.

    Attributes:
        resumed: Whether a run that was stopped goes on.

    Raises:
        SettingError: A run of other settings was stopped here.
        StoreError: The journal cannot be read or written.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], *, anew: bool = False) -> None:
        self.path = folder / NAME
        known = self._read(anew=anew)
        self.resumed = known is not None and not known.finished and not anew
        if known is not None and self.resumed and known.settings != dict(settings):
            names = settings.keys() | known.settings.keys()
            differing = sorted(name for name in names if known.settings.get(name) != settings.get(name))
            before = ", ".join(f"{name} {known.settings.get(name)}" for name in differing)
            raise SettingError(
                f"a run with other settings ({before}) was stopped in {folder}: give it these again to go on, or "
                "--anew to begin a new one"
            )
        if known is None or not self.resumed:
            known = LearningRun(settings=dict(settings), left_behind=_left_behind(known, settings))
        self.run = known
        self._write()

    @property
    def tracked_runs(self) -> list[str]:
        """MLflow runs that were begun in this folder and may not have ended: that of the run before, and its own."""
        return [run_id for run_id in (self.run.left_behind, self.run.run_id) if run_id is not None]

    def result(self, stage: str) -> dict[str, Any] | None:
        """What came of a stage; None where it is not finished."""
        return self._stage(stage).result

    def spent_s(self, stage: str) -> float:
        """Seconds that a stage has run for."""
        return self._stage(stage).spent_s

    def noted(self, stage: str, name: str, value: Any) -> Any:
        """What a stage noted when it first began; the value, which is noted now, where there is nothing yet."""
        notes = self._stage(stage).notes
        if name not in notes:
            notes[name] = value
            self._write()
        return notes[name]

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the time of the block to what the stage has spent, however it ends."""
        begun_s = time.monotonic()
        try:
            yield
        finally:
            self._stage(stage).spent_s += time.monotonic() - begun_s
            self._write()

    def finish(self, stage: str, result: Mapping[str, Any]) -> None:
        """Keeps what came of a stage."""
        self._stage(stage).result = dict(result)
        self._write()

    def tracked_as(self, run_id: str) -> None:
        """Keeps the MLflow run, so that it goes on too."""
        self.run.run_id = run_id
        self._write()

    def close(self) -> None:
        """Marks the run as finished: the next one is a new one."""
        self.run.finished = True
        self._write()

    def _stage(self, stage: str) -> StageRecord:
        return self.run.stages.setdefault(stage, StageRecord())

    def _read(self, *, anew: bool) -> LearningRun | None:
        if not self.path.exists():
            return None
        try:
            return LearningRun.model_validate_json(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:  # no text in UTF-8 among it
            if anew:
                return None
            raise StoreError(
                f"cannot read the journal {self.path} ({type(error).__name__}): begin a new run with --anew"
            ) from error

    def _write(self) -> None:
        content = json.dumps(self.run.model_dump(), indent=1, allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_durably(self.path, content.encode())
        except OSError as error:
            raise StoreError(
                f"cannot write the journal {self.path}: {error.strerror}; name another folder with --out"
            ) from error


def _left_behind(known: LearningRun | None, settings: Mapping[str, Any]) -> str | None:
    """The MLflow run that a journal names; None where that is of other records than those that this process has locked.

    The folder may be a copy, and the run that of a process which is at work in the original.
    """
    if known is None or known.settings.get("store") != settings.get("store"):
        return None
    return known.run_id or known.left_behind
