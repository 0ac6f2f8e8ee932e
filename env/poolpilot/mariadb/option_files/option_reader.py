"""Option files with what they include, in the order in which MariaDB's clients read them; the last option counts."""

import errno
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from poolpilot.errors import SettingError
from poolpilot.mariadb.option_files.option_line import BLANKS, Option, as_text, shown

LARGEST_FILE = 1 << 20
"""Bytes of an option file."""

MOST_FILES = 3000
"""Files that are read for one another; one that includes itself twice asks for two thousand, and thrice for more."""

DEEPEST = 10
"""Files that those clients let lie in one another."""

LONGEST_LINE = 4094
"""Bytes; those clients take the rest of a longer line for the next one."""

_LINE = re.compile(rb"[^\n]{0,%d}\n|[^\n]{1,%d}" % (LONGEST_LINE - 1, LONGEST_LINE))
_INCLUDE = re.compile(r"(includedir|include)(?=[\s\xa0]|$)")


class OptionReader:
    """Reads files one after another and keeps what the groups asked for say.

    Args:
        groups: Names of the groups; case does not count.

    Attributes:
        found: Group and option, in the order of the lines; the last one counts.
        files: The files that were read.
        warnings: What was left out and why, as sentences, each once.
    """

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = {group.lower(): group for group in groups}
        self.found: list[tuple[str, Option]] = []
        self.files: list[Path] = []
        self.warnings: list[str] = []

    def read_named(self, file: Path) -> None:
        """Reads a file that somebody has named: one that those clients would ignore is refused.

        Raises:
            SettingError: It cannot be read, everybody may write to it, or it is no option file.
        """
        try:
            if _open_to_all(file):
                raise SettingError(
                    f"everybody may write to the defaults file {file}, so MariaDB's clients ignore it: chmod o-w {file}"
                )
            self._read(file, 0)
        except OSError as error:
            raise SettingError(f"cannot read the defaults file {file}: {error.strerror}") from error

    def read_found(self, file: Path) -> None:
        """Reads a file that is read wherever it is there.

        Raises:
            SettingError: It is no option file.
        """
        self._read_or_warn(file, 0, f"the option file {file}", missing_is_fine=True)

    def _read_or_warn(self, file: Path, depth: int, what: str, *, missing_is_fine: bool = False) -> None:
        """Reads a file, or says why it is left out, as those clients leave it out."""
        try:
            if _open_to_all(file):
                self._warn(f"{what} is ignored, as by MariaDB's clients: everybody may write to it (chmod o-w {file})")
            else:
                self._read(file, depth)
        except OSError as error:
            if not (missing_is_fine and error.errno in (errno.ENOENT, errno.ENOTDIR)):
                self._warn(f"{what} is left out, as by MariaDB's clients: {error.strerror}")

    def _read(self, file: Path, depth: int) -> None:
        """Reads a file and what it includes.

        Raises:
            OSError: It cannot be read.
            SettingError: It is no option file; what stands before the fault is kept.
        """
        lines = list(_lines_of(file))
        self.files.append(file)
        if len(self.files) > MOST_FILES:
            raise _Endless(f"the option file {file} includes itself again and again: take its !include lines out")
        group: str | None = None  # that no group has begun, where it is None
        for number, line in lines:
            if line.startswith("!"):
                self._include(line[1:].lstrip(BLANKS), file, number, depth)
            elif line.startswith("["):
                name, bracket, _ = line[1:].partition("]")
                if not bracket:
                    raise _fault(file, f"line {number} begins a group and has no ]")
                group = self._groups.get(as_text(name.rstrip(BLANKS)).lower(), "")
            elif group is None:
                raise _fault(file, f"line {number} stands before the first group, such as [client]")
            elif group:
                self.found.append((group, Option.of(line)))

    def _include(self, directive: str, file: Path, number: int, depth: int) -> None:
        found = _INCLUDE.match(directive)
        if found is None:
            return  # those clients say nothing either
        if depth >= DEEPEST:
            return self._warn(
                f"the option file {file} includes itself, or lies in {DEEPEST} others: what it includes there is left "
                "out, as by MariaDB's clients"
            )
        named = as_text(directive[found.end() :].strip(BLANKS))
        if not named:
            raise _fault(file, f"line {number} names nothing to include")
        path = Path(named).expanduser() if named.startswith("~/") else Path(named)
        for one in _folder(path, file, number) if found[1] == "includedir" else (path,):
            with self._left_out():
                self._read_or_warn(one, depth + 1, f"{one}, which {file} includes,")

    @contextmanager
    def _left_out(self) -> Iterator[None]:
        """What is wrong with a file that another one includes ends that file alone."""
        try:
            yield
        except _Endless:
            raise
        except SettingError as error:
            self._warn(f"{error}; the rest of it is left out, as by MariaDB's clients")

    def _warn(self, sentence: str) -> None:
        if shown(sentence) not in self.warnings:
            self.warnings.append(shown(sentence))


def with_included(files: Sequence[Path]) -> set[Path]:
    """Some files, and what they include as far as it can be read."""
    reader = OptionReader(())
    for file in files:
        with suppress(SettingError):
            reader.read_found(file)
    return {*files, *reader.files}


class _Endless(SettingError):
    """A file includes itself more often than anybody waits for."""


def _lines_of(file: Path) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that say something."""
    with file.open("rb") as source:  # which may be a pipe, whose size nobody knows beforehand
        content = source.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise _fault(file, f"allowed are {LARGEST_FILE} bytes at most")
    if content.startswith(b"\xef\xbb\xbf"):
        raise _fault(file, "it begins with a byte order mark, which MariaDB's clients refuse: save it as UTF-8 without")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise _fault(file, "it is in UTF-16 or holds bytes of zero: save it as UTF-8")
    for number, raw in enumerate(_LINE.findall(content), start=1):
        line = raw.decode("latin-1").strip(BLANKS)
        if line and line[0] not in "#;":
            yield number, line


def _folder(path: Path, file: Path, number: int) -> list[Path]:
    try:
        return sorted(one for one in path.iterdir() if one.name.endswith(".cnf"))
    except OSError as error:
        raise _fault(
            file, f"line {number} includes the folder {path}, which cannot be read ({error.strerror})"
        ) from error


def _open_to_all(file: Path) -> bool:
    mode = file.stat().st_mode
    return stat.S_ISREG(mode) and bool(mode & stat.S_IWOTH)


def _fault(file: Path, why: str) -> SettingError:
    return SettingError(shown(f"the defaults file {file} is no option file: {why}"))
