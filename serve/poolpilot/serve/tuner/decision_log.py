"""The log of the tuner: one JSON line for every decision, with what it was made by; kept, rotated, and replayed.

The first line of a file tells what was remembered when it began and the rules of that time, so that every file can be
replayed alone (`decision_replay`): `decide` makes the same decisions of the same observations. A line counts once it is
whole and on the disk; a torn last line is of a decision that was never acted on. A full disk ends no tuner: what is
lost is counted, and told by the next line that can be written, in a new file, since what was remembered by then is not
in the old one.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from poolpilot.durability.durable_writes import append_durably
from poolpilot.durability.folder_lock import lock_folder
from poolpilot.errors import StoreError, TakenFolderError
from poolpilot.serve.tuner.machine.decision import Decision
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.older_names import OBSERVATION, decision_in, observation_in

FORMAT = 2
READ_FORMATS = (1, FORMAT)
"""Formats that are read; the first has the names of `older_names`, and other words in its reasons."""

MOST_FILES = 1000
"""Older files at most, however small: each start begins one, and each is given another number when one begins."""

RULES = TypeAdapter(Rules)
NAME = "decisions.jsonl"


@dataclass(frozen=True)
class LoggedDecision:
    """A line of the log.

    Attributes:
        observation: What the tuner was told.
        decision: What it decided.
    """

    observation: Observation
    decision: Decision


class DecisionLog:
    """Writes the log of one tuner, which has its folder for itself until it closes it or ends; readers need no leave.

    Args:
        folder: Where it lies; made where it is missing.
        server: What the server is called.
        largest_bytes: Size from which on a new file is begun.
        kept_bytes: Size of the older files that are kept, of `MOST_FILES` at most; three weeks of windows of 5 s
            take some 300 MB.

    Raises:
        TakenFolderError: Another tuner writes there.
        StoreError: The folder cannot be made or written.
    """

    def __init__(self, folder: Path, server: str, largest_bytes: int = 8 << 20, kept_bytes: int = 384 << 20) -> None:
        self.path = folder / NAME
        self.lost_lines = 0
        self.rules: Rules | None = None
        """The rules of the tuner; without them nobody can replay a file."""
        self._server = server
        self._largest_bytes, self._kept_bytes = largest_bytes, kept_bytes
        self._lock = _taken(folder)
        try:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            os.close(self._lock)
            raise StoreError(
                f"cannot write the log of decisions to {self.path} ({error.strerror}): name another folder with --log"
            ) from error
        self._begun = False

    def begin_file(self, rules: Rules) -> None:
        """Has the next decision begin a file of its own, by other rules: a file is replayed by one set of them."""
        self.rules, self._begun = rules, False

    def write(self, before: Memory, observation: Observation, decision: Decision) -> None:
        """Adds a decision.

        Args:
            before: What was remembered before it.
            observation: What it was made by.
            decision: The decision.
        """
        try:
            if not self._begun or self.lost_lines or os.fstat(self._descriptor).st_size >= self._largest_bytes:
                self._begin(before)
            line: dict[str, Any] = {OBSERVATION: _plain(observation), "decision": _plain(decision)}
            if before.lost_requests:
                line["lost_requests"] = before.lost_requests
            if self.lost_lines:
                line["lost_lines"] = self.lost_lines
            self._append(line)
            self.lost_lines = 0
        except OSError:
            self.lost_lines += 1

    def close(self) -> None:
        """Closes the file, and leaves the folder to another tuner."""
        os.close(self._descriptor)
        os.close(self._lock)

    def _begin(self, memory: Memory) -> None:
        self._begun = False
        if os.fstat(self._descriptor).st_size > 0:
            self._rotate()
        rules = self.rules
        told = {} if rules is None else {"mode": rules.mode, "rules": RULES.dump_python(rules, mode="json")}
        head = {"log": FORMAT, "server": self._server, "mode": "", **told}
        self._append({**head, "memory": memory.model_dump(mode="json")})
        self._begun = True

    def _rotate(self) -> None:
        """Gives every file the next number; the fresh one is there before any other is touched."""
        waiting = self.path.with_suffix(".new")
        fresh = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        try:
            for number in reversed(self._kept()):
                self._numbered(number).rename(self._numbered(number + 1))
            with suppress(FileNotFoundError):
                self.path.rename(self._numbered(1))
            waiting.rename(self.path)
        except OSError:  # what cannot be renamed now is tried again, and until then nobody writes where nobody reads
            os.close(fresh)
            raise
        os.close(self._descriptor)
        self._descriptor = fresh

    def _kept(self) -> list[int]:
        """Numbers of the older files that stay, the latest first; what is beyond the size, or too many, is deleted."""
        kept, left_bytes = list[int](), self._kept_bytes - os.fstat(self._descriptor).st_size
        for number in older_numbers(self.path):
            file = self._numbered(number)
            left_bytes -= file.stat().st_size
            if left_bytes < 0 or len(kept) >= MOST_FILES - 1:
                file.unlink()
            else:
                kept.append(number)
        return kept

    def _numbered(self, number: int) -> Path:
        return numbered(self.path, number)

    def _append(self, line: dict[str, Any]) -> None:
        data = f"{json.dumps(line, allow_nan=False)}\n".encode()
        size = os.fstat(self._descriptor).st_size
        try:
            append_durably(self._descriptor, data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise


def _taken(folder: Path) -> int:
    """The lock of a folder, made where it is missing."""
    try:
        return lock_folder(folder, "keeps its decisions", 0o700)
    except TakenFolderError as error:
        raise TakenFolderError(
            f"another tuner keeps its decisions in {folder}: end it, or name another folder with --log"
        ) from error
    except StoreError as error:
        raise StoreError(f"{str(error).partition(';')[0]}: name another folder with --log") from error


def _plain(model: Observation | Decision) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def numbered(newest: Path, number: int) -> Path:
    """An older file of a log; the latest of them is number 1."""
    return newest.with_suffix(f".{number}.jsonl")


def older_numbers(newest: Path) -> list[int]:
    """Numbers of the older files of a log, the latest first."""
    suffixes = (path.suffixes[0][1:] for path in newest.parent.glob(f"{newest.stem}.*.jsonl"))
    return sorted(int(each) for each in suffixes if each.isdigit())


def log_files(folder: Path) -> list[Path]:
    """The files of a log, oldest first; the newest one may be missing."""
    newest = folder / NAME
    return [*(numbered(newest, each) for each in reversed(older_numbers(newest))), newest]


def read_log(path: Path, on_damage: Callable[[str], None] | None = None) -> Iterator[LoggedDecision]:
    """The decisions of a file, oldest first.

    Args:
        path: The file.
        on_damage: Is told at the end of lines that cannot be read, which are left out; None takes them for an error.

    Raises:
        StoreError: The file cannot be read, or is none of a tuner.
    """
    unread = 0
    for line in _checked_lines(path)[1:]:
        try:
            yield logged(path, _parsed(path, line))
        except StoreError:
            if on_damage is None:
                raise
            unread += 1
    if unread and on_damage is not None:
        on_damage(f"{unread} line{'s' if unread > 1 else ''} of {path} that cannot be read")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file, its head first; none where nothing could be written to it yet.

    Raises:
        StoreError: The file cannot be read, or is none of a tuner.
    """
    return [_parsed(path, line) for line in _checked_lines(path)]


def _checked_lines(path: Path) -> list[bytes]:
    """The lines of a file whose head is that of a log, and without what is torn at its end."""
    if path.exists() and not path.is_file():
        raise StoreError(f"cannot read {path}: it is no regular file")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    *whole, _torn = content.split(b"\n")
    head = _parsed(path, whole[0]) if whole else {"log": FORMAT}
    if not isinstance(head, dict) or head.get("log") not in READ_FORMATS:
        raise StoreError(f"{path} is no log of decisions of this version")
    return whole


def _parsed(path: Path, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is no log of decisions: {error}") from error


def logged(path: Path, line: dict[str, Any]) -> LoggedDecision:
    """What a line below the head holds.

    Raises:
        StoreError: It is no decision.
    """
    try:
        observation = Observation.model_validate(observation_in(line))
        return LoggedDecision(observation, Decision.model_validate(decision_in(line)))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} holds a line that is no decision: {str(error).splitlines()[0]}") from error
