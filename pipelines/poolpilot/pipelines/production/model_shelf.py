"""The shelf of learned models: every one that was learned, a link to the one in force, and why it moved.

The first one on it is what ships, so that there is always one to go back to. `current` is a link that is replaced in
one step; a service that was started with it and loads again follows. The ledger is written and flushed before the link
moves, so that nobody ever serves what the ledger does not know.
"""

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from poolpilot.durability.durable_writes import append_durably, rename_durably
from poolpilot.errors import ArtefactError, StoreError
from poolpilot.models.latent.learned_folder import LearnedModel, load_learned_model, write_learned_model

MODELS, CURRENT, LEDGER = "models", "current", "promotions.jsonl"
NAME_CHARACTERS = 12
"""Characters of a digest that name a model's folder."""

Action = Literal["promoted", "refused", "rolled back"]


class ShelfMove(BaseModel):
    """A line of the ledger.

    Attributes:
        action: `promoted`, `refused` by the gate, or `rolled back` to the model `digest` from the model `before`.
        digest: Digest of the curves of the model that is in force now, or that was refused.
        before: Digest of the curves that were in force before; None where nothing was or nothing has changed.
        reasons: Why, as sentences.
        at_unix_s: When.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    digest: str
    before: str | None
    reasons: tuple[str, ...] = ()
    at_unix_s: float


class ModelShelf:
    """The models of a folder.

    Args:
        folder: Folder that `poolpilot learn` writes to.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def current(self) -> Path:
        """The link to the model in force."""
        return self.folder / CURRENT

    def in_force(self) -> LearnedModel | None:
        """The model in force; None where there is none.

        Raises:
            ArtefactError: It is damaged.
        """
        return load_learned_model(self.current) if self.current.is_symlink() else None

    def before(self, digest: str) -> str | None:
        """Digest of the model to go back to from `digest`: the latest other one that had been in force before it.

        One that is barred or cannot be read counts as none, and so does one to which the link was never moved, though
        the ledger has a line of its promotion: nothing has replaced it.

        Returns:
            None where there is none, as for the first one.
        """
        lines = self.ledger()
        while lines and (lines[-1].action == "refused" or lines[-1].digest != digest):
            lines.pop()
        passed_over = self.barred() | {digest}
        replaced = [line.before for line in reversed(lines) if line.before is not None]
        return next((older for older in replaced if older not in passed_over and self._is_sound(older)), None)

    def barred(self) -> frozenset[str]:
        """Digests of models that did badly in production."""
        return frozenset(line.before for line in self.ledger() if line.action == "rolled back" and line.before)

    def model(self, digest: str) -> LearnedModel:
        """A model of the shelf.

        Raises:
            ArtefactError: It is missing or damaged.
        """
        return load_learned_model(self._place(digest))

    def put(self, digest: str, files: Mapping[str, bytes]) -> Path:
        """Puts a model on the shelf, unless it is there; nothing is in force by that. Returns its folder.

        It is there whole or not at all, and what is there is left as it is: it may be in force.

        Raises:
            ArtefactError: It cannot be written.
        """
        place = self._place(digest)
        if self._is_sound(digest):
            return place
        beside = place.with_name(f".{place.name}.{os.getpid()}")
        shutil.rmtree(beside, ignore_errors=True)
        write_learned_model(beside, files)
        try:
            if place.exists():
                shutil.rmtree(place)
            rename_durably(beside, place)
        except OSError as error:
            raise ArtefactError(f"cannot put a model at {place}: {error.strerror}; move it away") from error
        return place

    def _is_sound(self, digest: str) -> bool:
        try:
            return self.model(digest).curves.digest == digest
        except ArtefactError:
            return False

    def promote(self, digest: str) -> None:
        """Makes a model of the shelf the one in force; nothing happens where it is.

        Raises:
            ArtefactError: It is missing or damaged, or the link cannot be moved.
        """
        self.model(digest)
        before = self._digest_in_force()
        if before == digest:
            return
        self._write("promoted", digest, before)
        self._point_to(digest)

    def _digest_in_force(self) -> str | None:
        """Digest of the model in force; None where there is none, or nobody can read it."""
        try:
            in_force = self.in_force()
        except ArtefactError:
            return None
        return None if in_force is None else in_force.curves.digest

    def refuse(self, digest: str, reasons: tuple[str, ...]) -> None:
        """Notes that the gate has refused a model; what is in force stays.

        Raises:
            StoreError: The ledger cannot be written.
        """
        self._write("refused", digest, None, reasons)

    def roll_back(self, reason: str) -> str:
        """Puts the model before the one in force in its place, and bars the latter; returns the digest of the former.

        Raises:
            ArtefactError: There is none before the one in force, or that is damaged.
        """
        worse = self.in_force()
        digest = None if worse is None else self.before(worse.curves.digest)
        if worse is None or digest is None:
            raise ArtefactError(f"there is no learned model before the one in force in {self.folder} to go back to")
        self._write("rolled back", digest, worse.curves.digest, (reason,))
        self._point_to(digest)
        return digest

    def ledger(self) -> list[ShelfMove]:
        """What became of the models, oldest first; a torn last line was never acted on.

        Raises:
            StoreError: It cannot be read.
        """
        path = self.folder / LEDGER
        if not path.exists():
            return []
        try:
            *lines, _torn = path.read_text(encoding="utf-8").split("\n")
            return [ShelfMove.model_validate_json(line) for line in lines if line]
        except (OSError, ValueError) as error:  # no text in UTF-8 among it
            raise StoreError(f"cannot read the ledger {path} ({error}): move it away or mend it") from error

    def _place(self, digest: str) -> Path:
        return self.folder / MODELS / digest[:NAME_CHARACTERS]

    def _point_to(self, digest: str) -> None:
        """Moves the link in one step; it has moved for good when this returns."""
        beside = self.folder / f".{CURRENT}.{os.getpid()}"
        try:
            beside.unlink(missing_ok=True)
            beside.symlink_to(self._place(digest).relative_to(self.folder))
            rename_durably(beside, self.current)
        except OSError as error:
            raise ArtefactError(f"cannot move the link {self.current}: {error.strerror}; move it by hand") from error

    def _write(self, action: Action, digest: str, before: str | None, reasons: tuple[str, ...] = ()) -> None:
        move = ShelfMove(action=action, digest=digest, before=before, reasons=reasons, at_unix_s=time.time())
        path = self.folder / LEDGER
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("a+b", buffering=0) as file:
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)  # a torn end was never acted on
                append_durably(file.fileno(), f"{move.model_dump_json()}\n".encode())
        except OSError as error:
            raise StoreError(f"cannot write the ledger {path}: {error.strerror}; nothing was changed") from error
