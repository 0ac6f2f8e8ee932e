"""What MariaDB's client would take from option files, and what those say to PoolPilot alone.

The files are those that `mariadb` reads, in its order; of an option that stands in many places the last one counts,
whichever group it is in. What stands under `[poolpilot]` is no matter of that client: it counts as if it stood in the
DSN.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from poolpilot.errors import SettingError
from poolpilot.mariadb.option_files.client_defaults import SUFFIXES, default_files, first_of
from poolpilot.mariadb.option_files.option_line import Option, shown
from poolpilot.mariadb.option_files.option_reader import OptionReader

CLIENT_GROUPS = ("mysql", "mariadb-client", "client", "client-server", "client-mariadb")
"""Groups that `mariadb` reads; `mariadb --help` names them."""

OWN_GROUP = "poolpilot"
"""The group for what that client refuses, such as extra-port."""

SHORTEST = {
    "host": 2,
    "port": 2,
    "user": 2,
    "socket": 2,
    "password": 3,
    "protocol": 4,
    "ssl": 3,
    "ssl-ca": 6,
    "ssl-capath": 7,
    "ssl-cert": 6,
    "ssl-key": 5,
    "ssl-verify-server-cert": 5,
}
"""The options that say where to, as whom and how; each may be cut short to so many letters, and no further."""

SWITCHES = ("ssl", "ssl-verify-server-cert")
OPTIONAL_VALUES = (*SWITCHES, "password")
NEGATIONS = ("skip-", "disable-")
PREFIXES = (*NEGATIONS, "enable-", "maximum-", "autoset-")
"""What may stand before a name beside `loose-`, which changes nothing of an option that is known."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options that count.

    Attributes:
        client: What that client takes, by name, in the order in which the options stand last.
        own: What stands in the group of ours.
        warnings: What of the files was left out, as sentences.
        files: The files that were read.
    """

    client: Mapping[str, str]
    own: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @classmethod
    def read(cls, named: Path | None, suffix: str) -> Self:
        """Reads a named file alone, or all that `mariadb` reads where none is named.

        Args:
            named: The file.
            suffix: Of further groups, such as `_staging`; that of the environment if empty.

        Raises:
            SettingError: A file is no option file, or an option says what cannot be followed here.
        """
        suffix = suffix or first_of(SUFFIXES)
        ours = {OWN_GROUP, f"{OWN_GROUP}{suffix}"}
        reader = OptionReader([*ours, *CLIENT_GROUPS, *(f"{group}{suffix}" for group in CLIENT_GROUPS)])
        if named is not None:
            reader.read_named(named)
        for file in () if named is not None else default_files():
            reader.read_found(file)
        client, own = (
            _last_of(option for group, option in reader.found if (group in ours) is is_own) for is_own in (False, True)
        )
        return cls(client, own, tuple(reader.warnings), tuple(reader.files))

    @property
    def all(self) -> Mapping[str, str]:
        """Both, ours last."""
        return _last_of(Option(name, value) for options in (self.client, self.own) for name, value in options.items())


def _last_of(options: Iterable[Option]) -> dict[str, str]:
    """Values by names in full, in the order in which they stand last."""
    last: dict[str, str] = {}
    for option in options:
        name, value = _in_full(option)
        last.pop(name, None)
        last[name] = value
    return last


def _in_full(option: Option) -> tuple[str, str]:
    """The option that one of another spelling stands for, such as `sock`, `loose-port` and `skip-ssl` (`ssl=0`).

    Raises:
        SettingError: It may stand for two, lacks its value, or has a prefix that has no place before it.
    """
    written = option.name.removeprefix("loose-")
    prefix = next((one for one in PREFIXES if written.startswith(one)), "")
    name = _known(written.removeprefix(prefix))
    if name is None:
        return written, option.value or ""
    if prefix:
        return name, _turned(option, name, prefix)
    if option.value is None and name not in OPTIONAL_VALUES:
        raise SettingError(f"the option {name} of a defaults file has no value: write {name}=VALUE")
    return name, option.value or ""


def _known(written: str) -> str | None:
    """The option that is meant by a name; None for one that is of no matter here."""
    if written in SHORTEST:
        return written
    meant = [name for name in SHORTEST if written and name.startswith(written)]
    if len(meant) > 1 or any(len(written) < SHORTEST[name] for name in meant):
        raise SettingError(f"the option {shown(written)} of a defaults file may stand for two: write its name in full")
    return meant[0] if meant else None


def _turned(option: Option, name: str, prefix: str) -> str:
    """The value of an option whose name has a prefix: `skip-ssl` is `ssl=0`, and `skip-ssl=0` turns that round."""
    if prefix in NEGATIONS and name == "password":
        return ""
    if name not in SWITCHES or prefix not in (*NEGATIONS, "enable-"):
        raise SettingError(
            f"the option {shown(option.name)} of a defaults file is not followed here: write {name}=VALUE"
        )
    return "1" if (prefix in NEGATIONS) is (option.value == "0") else "0"
