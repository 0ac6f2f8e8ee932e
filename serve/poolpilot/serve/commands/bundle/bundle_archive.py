"""The file that a bundle is written to: new, whole, and readable by who wrote it alone."""

import io
import os
import tarfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from poolpilot.errors import SettingError, StoreError
from poolpilot.serve.commands.bundle.bundle_part import BundlePart
from poolpilot.serve.commands.bundle.redaction import Redaction

FOLDER = "poolpilot-bundle"
"""Folder that the files of an archive lie in."""


def write_archive(path: Path, parts: Iterable[BundlePart], redaction: Redaction) -> int:
    """Writes a bundle as .tar.gz.

    Args:
        path: The file; there must be none yet.
        parts: What it holds.
        redaction: What looks once more whether a known secret is left.

    Returns:
        Bytes written.

    Raises:
        StoreError: A known secret stands in a part; nothing is written.
        SettingError: The file is there already, or cannot be written.
    """
    data = _archive(parts, redaction)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError as error:
        raise SettingError(f"{path} is there already and is not replaced: name another file with --out") from error
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise SettingError(f"cannot write {path}: {error.strerror}") from error
    return len(data)


def _archive(parts: Iterable[BundlePart], redaction: Redaction) -> bytes:
    buffer, now_s = io.BytesIO(), int(time.time())
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for part in parts:
            if not part.fixed and (redaction.leaves_in(part.text) or redaction.leaves_in(part.name)):
                raise StoreError(f"{part.name} would still hold a secret of this host, so nothing is written")
            content = part.text.encode()
            entry = tarfile.TarInfo(f"{FOLDER}/{part.name}")
            entry.size, entry.mode, entry.mtime = len(content), 0o600, now_s
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
