"""The secrets that this user's files and environment hold, so that none of them goes along by accident.

They stay in the memory of the process that looks for them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from poolpilot.env.program_settings import SECRET_NAME
from poolpilot.errors import SettingError
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.option_files.client_defaults import default_files
from poolpilot.mariadb.option_files.option_line import option_value
from poolpilot.mariadb.option_files.option_reader import with_included
from poolpilot.serve.commands.bundle.redaction import LONG_ENOUGH_FOR_PLAIN

SHORTEST = 4
"""Characters; a shorter secret would be found in every other word."""

LARGEST_FILE = 1 << 20
"""Bytes of a file that are looked at."""

_OPTION = re.compile(
    r"^[ \t]*[\w-]{0,64}?(?:pass(?:word|wd)|secret|token)(?![\w-]{0,64}file)[\w-]{0,64}"
    r"[ \t]*=[ \t]*(.+?)[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)

_SCOPED_TOKEN = re.compile(r"^[ \t]*[\w,]+[ \t]+(\S+)[ \t\r]*$", re.MULTILINE)

_SWITCH = re.compile(r"true|false|null|none", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[\d.]+(?:e[-+]?\d+)?", re.IGNORECASE)

_DSN_PASSWORD = re.compile(r"(?:^|,)(?:p|password|passwd)=([^,]*)")


def known_secrets(environment: Mapping[str, str], defaults_files: Iterable[Path] = ()) -> frozenset[str]:
    """Secrets of the environment, of defaults files, of files of settings and of files of tokens.

    Args:
        environment: Variables; those of `POOLPILOT_...` may name files.
        defaults_files: Defaults files and settings files that are named elsewhere; those of `mariadb` are always
            read.
    """
    named = {
        name: value for name, value in environment.items() if SECRET_NAME.search(name) and not _is_short_number(value)
    }
    found = {*named.values(), environment.get("MYSQL_PWD", "")}
    ours = {name: value for name, value in environment.items() if name.startswith("POOLPILOT_")}
    dsns = [value for name, value in ours.items() if name.endswith("_DSN")]
    found.update(one for dsn in dsns for one in _DSN_PASSWORD.findall(dsn))
    options = [Path(value) for name, value in ours.items() if name.endswith("_DEFAULTS_FILE")]
    for path in with_included([*default_files(), *defaults_files, *options, *named_in(dsns)]):
        for one in _OPTION.findall(_content(path)):
            found |= {option_value(one), one.strip("\"'")}  # as MariaDB reads it, and as it stands
    for name, value in ours.items():
        if name.endswith("_TOKEN_FILE"):
            found.update(_SCOPED_TOKEN.findall(_content(Path(value))))
    return frozenset(one for one in found if len(one) >= SHORTEST and not _SWITCH.fullmatch(one) and not _is_path(one))


def named_in(dsns: Iterable[str]) -> Iterator[Path]:
    """The defaults files that DSNs name."""
    for dsn in dsns:
        with suppress(SettingError):
            file = Dsn.parse(dsn).defaults_file
            if file is not None:
                yield file


def _content(path: Path) -> str:
    """A file's beginning; nothing of one that cannot be read, of which nothing can go along either."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _is_short_number(text: str) -> bool:
    """Whether a variable holds a number, such as a TOKEN_TTL, as stands everywhere; one of a file may be a password."""
    return _NUMBER.fullmatch(text) is not None and len(text) < LONG_ENOUGH_FOR_PLAIN


def _is_path(text: str) -> bool:
    """Whether it names something that there is, as PWD and SSH_AUTH_SOCK do."""
    try:
        return text.startswith("/") and Path(text).exists()
    except (OSError, ValueError):
        return False
