"""What a command notes of a server before each change, so that it can be restored however the command ends.

A journal is a file of JSON lines: the first one tells the server, the tuple at the beginning and who writes it; each
further one is a tuple that is about to be set. A line counts once it is whole and on the disk, and only then the server
is touched: a torn last line is a change that never happened.
"""

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from poolpilot.durability.durable_writes import append_durably, write_durably
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import JournalError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.actuator import PROCEDURE_NAME

FORMAT = 1
FOLDER_VARIABLE = "POOLPILOT_JOURNALS"
LARGEST_POOL_SIZE = 100_000
"""No MariaDB takes more."""

KEPT = 2
"""Tuples that may be partly in force besides the first one: the one set last, and the one before it."""


def journal_folder(named: Path | None = None) -> Path:
    """Where journals lie: the folder named, else that of POOLPILOT_JOURNALS, else the user's folder for states."""
    if named is not None:
        return named
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "poolpilot"


@dataclass(frozen=True, slots=True)
class Leftover:
    """What is left of a command on a server, knob by knob.

    Attributes:
        wanted: The tuple that should be in force: what the command has set goes back to the beginning, and what
            somebody else has set stays.
        theirs: Knobs that somebody else has set.
    """

    wanted: PoolTuple
    theirs: tuple[str, ...]


@dataclass
class Journal:
    """The journal of one command on one server.

    Attributes:
        path: Its file.
        server: The server.
        first: The tuple at the beginning.
        most_pool_size: Largest pool size that the server took then. Of one that was started with more than 128 groups
            this cannot be told any more once fewer are in force.
        command: Which command writes it, such as "climb".
        procedure: What it sets by, where its account may not `SET GLOBAL`, so that who restores may do so too.
        writer: Host and process that write it.
        begun_unix_s: When it began.
        announced: The latest tuples about to be set, oldest first: where the last of them breaks off half way, the pool
            has values of both.
    """

    path: Path
    server: ServerIdentity
    first: PoolTuple
    most_pool_size: int
    command: str
    writer: str = field(default_factory=lambda: f"process {os.getpid()} on {socket.gethostname()}")
    begun_unix_s: float = field(default_factory=time.time)
    announced: tuple[PoolTuple, ...] = ()
    procedure: str | None = None

    @classmethod
    def begin(
        cls,
        folder: Path,
        server: ServerIdentity,
        first: PoolTuple,
        knobs: KnobSpace,
        command: str,
        procedure: str | None = None,
    ) -> Self:
        """Writes the beginning; an older journal of the server is replaced.

        Raises:
            JournalError: The folder cannot be written.
        """
        most = int(knobs.knobs["pool_size"].high)
        journal = cls(path_of(folder, server), server, first, most, command, procedure=procedure)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_durably(journal.path, _bytes([journal._beginning()]), 0o600)
        except OSError as error:
            raise JournalError(
                f"cannot write what is to be restored to {journal.path} ({error.strerror}), and without it nothing is "
                f"set; name another folder with {FOLDER_VARIABLE}"
            ) from error
        return journal

    @classmethod
    def find(cls, folder: Path, server: ServerIdentity, knobs: KnobSpace) -> Self | None:
        """The journal that an earlier command on a server has left; None where it left none.

        Raises:
            JournalError: It cannot be read, is of another server or version, or holds a tuple outside the ranges.
        """
        path = path_of(folder, server)
        try:
            *lines, _torn = path.read_text(encoding="utf-8").split("\n")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _unfit(path, f"cannot be read ({error})") from error
        if not lines:
            return None
        try:
            return cls._of(path, [json.loads(line) for line in lines], server, knobs)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError, SettingError) as error:
            raise _unfit(path, f"is damaged ({type(error).__name__}: {error})") from error

    @classmethod
    def _of(cls, path: Path, lines: list[Any], server: ServerIdentity, knobs: KnobSpace) -> Self:
        head: Mapping[str, Any] = lines[0]
        if head["journal"] != FORMAT:
            raise _unfit(path, f"has the format {head['journal']!r}, but this version reads {FORMAT}")
        written = ServerIdentity.from_dict(head["server"])
        restarted = server.restarted_since(written)
        if not server.is_of(written) or (written.version != server.version and not restarted):
            raise _unfit(path, f"is of {written}, but this is {server}")
        tuples = [PoolTuple.from_dict(values) for values in (head["first"], *(line["set"] for line in lines[1:]))]
        most_pool_size = int(head["most_pool_size"])
        if not restarted:  # else its configuration file holds, and nothing of this comes back
            _check(path, tuples, _widened(knobs, most_pool_size))
        first, *announced = tuples
        return cls(
            path,
            written,
            first,
            most_pool_size,
            str(head["command"]),
            str(head["writer"]),
            float(head["begun_unix_s"]),
            tuple(announced[-KEPT:]),
            _procedure(head),
        )

    def announce(self, pool_tuple: PoolTuple) -> None:
        """Notes a tuple that is about to be set.

        Raises:
            JournalError: It cannot be written, so that the tuple must not be set.
        """
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)  # not made: none is without its beginning
            try:
                append_durably(descriptor, _bytes([_set(pool_tuple)]))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise JournalError(f"cannot write to {self.path} ({error.strerror}): nothing more is set") from error
        self.announced = (*self.announced[1 - KEPT :], pool_tuple)

    def commit(self, pool_tuple: PoolTuple) -> None:
        """Takes a tuple that is in force for the beginning from now on; what was announced before is over.

        The file is replaced as a whole, so that at any moment it tells one beginning or the other, and stays short.

        Raises:
            JournalError: It cannot be written; the beginning is the one before.
        """
        self._replace(pool_tuple, ())
        self.first, self.announced = pool_tuple, ()

    def renew(self) -> None:
        """Writes it again as it is: somebody may have restored, and removed it, while the server was lost.

        Raises:
            JournalError: It cannot be written.
        """
        self._replace(self.first, self.announced)

    def return_to(self, pool_tuple: PoolTuple) -> None:
        """Takes a tuple that is not in force for the one that comes back; what is in force is still the command's own.

        Raises:
            JournalError: It cannot be written; this process goes by it all the same.
        """
        ours = dict.fromkeys((self.first, *self.announced))
        self.first, self.announced = pool_tuple, tuple(ours)[-KEPT:]
        self._replace(self.first, self.announced)

    def _replace(self, first: PoolTuple, announced: Sequence[PoolTuple]) -> None:
        lines = [{**self._beginning(), "first": first.as_dict()}, *map(_set, announced)]
        try:
            write_durably(self.path, _bytes(lines), 0o600)
        except OSError as error:
            raise JournalError(f"cannot write to {self.path} ({error.strerror}): nothing more is set") from error

    def left_over(self, in_force: PoolTuple) -> Leftover:
        """What is left of the command in the tuple in force."""
        first, now = self.first.as_dict(), in_force.as_dict()
        ours = {
            name: {value, *(pool_tuple.as_dict()[name] for pool_tuple in self.announced)}
            for name, value in first.items()
        }
        theirs = tuple(name for name, value in now.items() if value not in ours[name])
        kept = {name: now[name] for name in theirs}
        return Leftover(PoolTuple.from_dict({**first, **kept}), theirs)

    def end(self) -> None:
        """Removes it: the server is back, or is to stay as it is."""
        self.path.unlink(missing_ok=True)

    def __str__(self) -> str:
        began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.begun_unix_s))
        return f"the {self.command} of {began} ({self.writer})"

    def _beginning(self) -> dict[str, Any]:
        return {
            "journal": FORMAT,
            "server": self.server.as_dict(),
            "first": self.first.as_dict(),
            "most_pool_size": self.most_pool_size,
            "command": self.command,
            "writer": self.writer,
            "begun_unix_s": self.begun_unix_s,
            **({} if self.procedure is None else {"procedure": self.procedure}),
        }


def _bytes(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def _check(path: Path, tuples: Sequence[PoolTuple], limits: KnobSpace) -> None:
    for pool_tuple in tuples:
        try:
            limits.check(pool_tuple)
        except SettingError as error:
            raise _unfit(path, f"holds a configuration that this server does not take: {error}") from error


def _procedure(head: Mapping[str, Any]) -> str | None:
    """The procedure of a head, which is called; journals of older versions name none."""
    name = head.get("procedure")
    if name is not None and not PROCEDURE_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a procedure")
    return name


def _set(pool_tuple: PoolTuple) -> dict[str, Any]:
    """The line of a tuple that is about to be set."""
    return {"set": pool_tuple.as_dict()}


def path_of(folder: Path, server: ServerIdentity) -> Path:
    """The file of a server's journal."""
    return folder / f"{server.key}.jsonl"


def _widened(knobs: KnobSpace, most_pool_size: int) -> KnobSpace:
    size = knobs.knobs["pool_size"]
    most = max(size.high, min(most_pool_size, LARGEST_POOL_SIZE))
    return replace(knobs, knobs={**knobs.knobs, "pool_size": replace(size, high=most)})


def _unfit(path: Path, reason: str) -> JournalError:
    return JournalError(
        f"the journal {path}, which an earlier command has left, {reason}: nothing is set; check the pool's "
        "variables, then remove the file, or let `poolpilot restore --forget` do it"
    )
