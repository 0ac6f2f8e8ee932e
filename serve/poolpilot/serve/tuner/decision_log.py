"""The log of the tuner: one JSON line for every decision, with what it was made by; kept, rotated, and replayed.

The first line of a file tells what was remembered when it began and by which rules, so that every file can be replayed
alone: `decide` makes the same decisions of the same looks. A line counts once it is whole and on the disk; a torn last
line is of a decision that was never acted on. A disk that is full ends no tuner: what is lost is counted, and told by
the next line that can be written.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolpilot.env.durable_writes import write_whole
from poolpilot.errors import StoreError
from poolpilot.serve.tuner.machine.decide import decide
from poolpilot.serve.tuner.machine.decision import Decision
from poolpilot.serve.tuner.machine.look import Look
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.why_not import Rules

FORMAT = 1
NAME = "decisions.jsonl"


@dataclass(frozen=True)
class LoggedDecision:
    """A line of the log.

    Attributes:
        look: What the tuner was told.
        decision: What it decided.
    """

    look: Look
    decision: Decision


class DecisionLog:
    """Writes the log of one tuner.

    Args:
        folder: Where it lies; made where it is missing.
        server: What the server is called.
        largest_bytes: Size from which on a new file is begun.
        kept_files: Older files that are kept.
        mode: What the tuner may do, for who reads the log; nothing if not known.

    Raises:
        StoreError: The folder cannot be made or written.
    """

    def __init__(
        self, folder: Path, server: str, largest_bytes: int = 8 << 20, kept_files: int = 32, mode: str = ""
    ) -> None:
        self.path = folder / NAME
        self.lost_lines = 0
        self._server, self._mode = server, mode
        self._largest_bytes, self._kept_files = largest_bytes, kept_files
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise StoreError(
                f"cannot write the log of decisions to {self.path} ({error.strerror}): name another folder with --log"
            ) from error
        self._begun = False

    def write(self, before: Memory, look: Look, decision: Decision) -> None:
        """Adds a decision.

        Args:
            before: What was remembered before it.
            look: What it was made by.
            decision: The decision.
        """
        try:
            if not self._begun or os.fstat(self._descriptor).st_size >= self._largest_bytes:
                self._begin(before)
            line: dict[str, Any] = {"look": _plain(look), "decision": _plain(decision)}
            if before.lost_requests:
                line["lost_requests"] = before.lost_requests
            if self.lost_lines:
                line["lost_lines"] = self.lost_lines
            self._append(line)
            self.lost_lines = 0
        except OSError:
            self.lost_lines += 1

    def close(self) -> None:
        """Closes the file."""
        os.close(self._descriptor)

    def _begin(self, memory: Memory) -> None:
        if os.fstat(self._descriptor).st_size > 0:
            self._rotate()
        head = {"log": FORMAT, "server": self._server, "mode": self._mode}
        self._append({**head, "memory": memory.model_dump(mode="json")})
        self._begun = True

    def _rotate(self) -> None:
        for number in range(self._kept_files, 0, -1):
            older = self.path.with_suffix(f".{number}.jsonl")
            if number == self._kept_files:
                older.unlink(missing_ok=True)
            newer = self.path if number == 1 else self.path.with_suffix(f".{number - 1}.jsonl")
            with suppress(FileNotFoundError):
                newer.rename(older)
        fresh = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.close(self._descriptor)
        self._descriptor = fresh

    def _append(self, line: dict[str, Any]) -> None:
        data = f"{json.dumps(line, allow_nan=False)}\n".encode()
        size = os.fstat(self._descriptor).st_size
        try:
            write_whole(self._descriptor, data)
            os.fsync(self._descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise


def _plain(model: Look | Decision) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True)


def read_log(path: Path) -> Iterator[LoggedDecision]:
    """The decisions of a file, oldest first.

    Raises:
        StoreError: The file cannot be read, or is none of a tuner.
    """
    _, *lines = _lines(path)
    for line in lines:
        yield _logged(path, line)


def replayed(path: Path, rules: Rules) -> Iterator[tuple[Decision, Decision]]:
    """Each decision of a file beside the one that is made of the same looks now.

    Args:
        path: The file.
        rules: The rules of that time.

    Raises:
        StoreError: The file cannot be read, or is none of a tuner.
    """
    head, *lines = _lines(path)
    memory = Memory.model_validate(head["memory"])
    for line in lines:
        logged = _logged(path, line)
        memory, decision = decide(memory, logged.look, rules)
        yield logged.decision, decision


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        *whole, _torn = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    try:
        lines: list[dict[str, Any]] = [json.loads(line) for line in whole]
        if not lines or lines[0]["log"] != FORMAT:
            raise StoreError(f"{path} is no log of decisions of this version")
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is no log of decisions: {error}") from error
    return lines


def _logged(path: Path, line: dict[str, Any]) -> LoggedDecision:
    try:
        return LoggedDecision(Look.model_validate(line["look"]), Decision.model_validate(line["decision"]))
    except (ValueError, KeyError) as error:
        raise StoreError(f"{path} holds a line that is no decision: {error}") from error
