"""Networks of finished stages of training, kept so that a run that was ended goes on from there."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel
from rich.console import Console
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from poolpilot.agent.training.validation import Weights
from poolpilot.durability.durable_writes import write_durably
from poolpilot.durability.folder_lock import LOCK_FILE, locked_folder
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.card import program

FOLDER = "stages"
"""Name of the folder within a run's output."""

WITHOUT_EFFECT = {"ray"}
"""Settings that change where a stage runs and not what comes of it."""


class StageStore:
    """The networks of one run's stages, each under a digest of all that it follows from.

    Args:
        output: Folder that the run writes its model to.
        data: What every stage learns from, fit for JSON.
    """

    def __init__(self, output: Path, data: Mapping[str, Any]) -> None:
        self.folder = output / FOLDER
        self._data = dict(data)

    def load(self, stage: str, settings: BaseModel, initial: Weights | None) -> Weights | None:
        """The weights that a stage ended with; None where it has not been finished with these settings and data.

        Args:
            stage: Its name.
            settings: Its settings.
            initial: Weights that it starts from; None for random ones.
        """
        try:
            return load_tensors(self._path(stage, settings, initial).read_bytes())
        except (OSError, SafetensorError):
            return None

    def save(self, stage: str, settings: BaseModel, initial: Weights | None, weights: Weights) -> None:
        """Keeps the weights that a stage has ended with; one of other settings or data makes room.

        Args:
            stage: Its name.
            settings: Its settings.
            initial: Weights that it started from; None for random ones.
            weights: Weights that it ended with.

        Raises:
            OSError: The disk refuses.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for outdated in self.folder.glob(f"{stage}-*"):
            outdated.unlink(missing_ok=True)
        content = save_tensors({name: np.array(array, order="C") for name, array in sorted(weights.items())})
        write_durably(self._path(stage, settings, initial), content)

    def clear(self) -> None:
        """Removes what is kept; for the end of a run, whose model holds it all."""
        for kept in (*self._kept(), self.folder / LOCK_FILE):
            kept.unlink(missing_ok=True)
        with suppress(OSError):  # not there, or it holds what somebody else has put there
            self.folder.rmdir()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Keeps other runs of the same output away while the block runs: each would take the other's stages away.

        Raises:
            TakenFolderError: One is under way.
            StoreError: The folder cannot be made or locked.
        """
        with locked_folder(self.folder, "trains a model and keeps its stages"):
            try:
                yield
            finally:
                if not self._kept():
                    self.clear()

    @contextmanager
    def told(self, console: Console) -> Iterator[None]:
        """Says on Ctrl-C what is kept of the block and how to go on.

        Args:
            console: Where to.
        """
        try:
            yield
        except KeyboardInterrupt:
            if stages := [path.name.rpartition("-")[0] for path in self._kept()]:
                kept = f"Finished and kept in {self.folder}: {', '.join(stages)}"
                console.print(f"{kept}; the same command goes on from there.", soft_wrap=True)
            raise

    def _kept(self) -> list[Path]:
        return sorted(self.folder.glob("*.safetensors"))

    def _path(self, stage: str, settings: BaseModel, initial: Weights | None) -> Path:
        follows_from = {
            "program": program(),
            "schema_version": SCHEMA_VERSION,
            "data": self._data,
            "settings": settings.model_dump(mode="json", exclude=WITHOUT_EFFECT),
        }
        digest = hashlib.sha256(json.dumps(follows_from, sort_keys=True).encode())
        for name, array in sorted((initial or {}).items()):
            digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return self.folder / f"{stage}-{digest.hexdigest()[:16]}.safetensors"
