"""A file of secrets that only who runs the service may read."""

import os
import stat
import struct
from pathlib import Path

from poolpilot.errors import SettingError

ACL = "system.posix_acl_access"
"""Extended attribute that holds the access list of a file, as the kernel gives it."""

_ENTRY = struct.Struct("<HHI")

_HEAD_BYTES = 4

_USER, _GROUP_OBJECT, _GROUP, _OTHER = 0x02, 0x04, 0x08, 0x20
"""Kinds of entries that may let somebody else in; the mask and the owner are no such."""


def private_text(path: Path, most_bytes: int) -> str:
    """Reads a file that nobody else may read.

    Raises:
        SettingError: It cannot be read, others may read it, it is too long or not ASCII.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            _check_private(path, descriptor)
            content = file.read(most_bytes + 1)
    except OSError as error:
        raise SettingError(f"cannot read the file of tokens {path}: {error.strerror}") from error
    if len(content) > most_bytes:
        raise SettingError(f"the file of tokens {path} exceeds {most_bytes} bytes")
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        raise SettingError(f"the file of tokens {path} holds bytes that are not ASCII") from error


def _check_private(path: Path, descriptor: int) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise SettingError(f"the file of tokens {path} is no regular file")
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o177 and not (mode & 0o137 == 0 and _let_in_by_name(descriptor)):
        raise SettingError(f"the file of tokens {path} has mode {mode:04o}, must have 0600: chmod 600 {path}")


def _let_in_by_name(descriptor: int) -> bool:
    """Whether an access list lets this user in and nobody else, as systemd does for LoadCredential.

    The bits of the group are then the mask of that list, and not what the group may do.
    """
    try:
        listed = os.getxattr(descriptor, ACL)
    except OSError:
        return False
    entries = list(_ENTRY.iter_unpack(listed[_HEAD_BYTES:]))
    allowed = {
        (kind, who) for kind, rights, who in entries if rights and kind in (_USER, _GROUP_OBJECT, _GROUP, _OTHER)
    }
    return allowed == {(_USER, os.geteuid())}
