"""The folder of an artefact: its files, the manifest of their digests, and their replacement all at once.

Death at any moment of a replacement leaves all the old files or all the new ones to whoever reads next:

1. The new files are written and flushed in `.staged`, a folder inside the folder.
2. `.staged` is renamed to `.incoming`. This step decides: from now on readers take `.incoming`.
3. The files are copied from there into the folder, where those of the old artefact make room first.
4. `.incoming` is renamed to `.settled`: readers take the folder again, and `.settled` goes.

The next writer finishes 3 and 4 and clears what is left of 1 and 4. Two writers at once may fail, one through the
other, but no reader through them: whoever misses a file looks again where the files are now.

The folder itself is never renamed, nor exchanged with one beside it: a mount point refuses that (EBUSY), so does a
folder from a lower layer of a container's image (EXDEV), RENAME_EXCHANGE is not on every file system, and the parent
may belong to somebody else.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from poolpilot.durability.durable_writes import flush_folder, rename_durably, write_new
from poolpilot.errors import ArtefactError, DamagedArtefactError

WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "model.json"
REPOSITORY_FILE = "memory.json"
GOLDEN_FILE = "golden.json"
MANIFEST_FILE = "manifest.json"
MODEL_FILES = (WEIGHTS_FILE, CARD_FILE)
LISTED_FILES = (*MODEL_FILES, REPOSITORY_FILE, GOLDEN_FILE)

STAGED, INCOMING, SETTLED = ".staged", ".incoming", ".settled"

REMEDY = "train and promote it again (`poolpilot learn train`, then `learn promote`) or copy the whole folder again"


def write(directory: Path, files: Mapping[str, bytes]) -> None:
    """Makes these files and their manifest the artefact of a folder, in one step whatever happens meanwhile.

    Args:
        directory: Folder of the artefact; made if missing. Files that belong to no artefact stay.
        files: The model's two files and, where it has them, its repository and its golden vectors.

    Raises:
        ArtefactError: The folder cannot be written; the text says which model is in force.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _settle(directory)
        _stage(directory, files)
    except OSError as error:
        shutil.rmtree(directory / STAGED, ignore_errors=True)
        raise ArtefactError(
            f"cannot write the model to {directory}: {error.strerror}; what was there is in force; "
            "choose another folder"
        ) from error
    try:
        _settle(directory)
    except OSError as error:
        raise ArtefactError(
            f"the new model is in force in {directory}, but its files are still in {INCOMING} ({error.strerror}); "
            "mend that and write it again"
        ) from error


def read(directory: Path) -> dict[str, bytes]:
    """The files of an artefact, checked against its manifest; a file that the manifest does not list is no part of it.

    Raises:
        DamagedArtefactError: A file is missing, unreadable or not what was written.
    """
    while True:
        version = _version(directory)
        try:
            return _checked(version[0])
        except DamagedArtefactError:
            if _version(directory) == version:
                raise  # nobody replaced it meanwhile


def holds_artefact(directory: Path) -> bool:
    """Whether there is any part of an artefact, be it damaged."""
    return any((directory / name).exists() for name in (INCOMING, MANIFEST_FILE, *LISTED_FILES))


def model_digest(files: Mapping[str, bytes]) -> str:
    """Digest of what predicts: sha256 of a manifest of weights and card.

    A repository is not in it: it is made of the training records, which the card names by their digest. Nor are golden
    vectors, which say nothing that weights and card do not.
    """
    return hashlib.sha256(_manifest(_digests({name: files[name] for name in MODEL_FILES}))).hexdigest()


def _version(directory: Path) -> tuple[Path, int, int]:
    """Where the files are now and which manifest is among them: another one after every replacement."""
    incoming = directory / INCOMING
    folder = incoming if incoming.is_dir() else directory
    try:
        found = (folder / MANIFEST_FILE).stat()
    except OSError:
        return folder, 0, 0
    return folder, found.st_ino, found.st_mtime_ns


def _checked(folder: Path) -> dict[str, bytes]:
    digests = _listed(folder)
    contents = {name: _content(folder / name) for name in digests}
    for name, digest in _digests(contents).items():
        if digest != digests[name]:
            raise DamagedArtefactError(f"{folder / name} does not match its digest in {MANIFEST_FILE}; {REMEDY}")
    return contents


def _listed(folder: Path) -> dict[str, str]:
    """The digests that the manifest states, by file."""
    path = folder / MANIFEST_FILE
    manifest = _content(path)
    try:
        digests = json.loads(manifest)["sha256"]
        sound = set(MODEL_FILES) <= set(digests) <= set(LISTED_FILES) and manifest == _manifest(digests)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedArtefactError(f"{path} is not a manifest ({error!r}); {REMEDY}") from error
    if not sound:
        raise DamagedArtefactError(f"{path} is not a manifest as it is written; {REMEDY}")
    return dict(digests)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedArtefactError(f"cannot read {path} ({error.strerror}); {REMEDY}") from error


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _manifest(digests: Mapping[str, str]) -> bytes:
    ordered = {name: digests[name] for name in LISTED_FILES if name in digests}
    return (json.dumps({"sha256": ordered}, indent=1) + "\n").encode()


def _stage(directory: Path, files: Mapping[str, bytes]) -> None:
    staged = directory / STAGED
    staged.mkdir()
    _fill(staged, {**files, MANIFEST_FILE: _manifest(_digests(files))})
    staged.rename(directory / INCOMING)


def _settle(directory: Path) -> None:
    """Brings what is incoming to rest, be it somebody's who died; may itself be cut short anywhere and repeated."""
    for left in (STAGED, SETTLED):
        _remove(directory / left)
    incoming = directory / INCOMING
    if not incoming.is_dir():
        return
    flush_folder(directory)
    for name in (MANIFEST_FILE, *LISTED_FILES):
        # Unlinked, not overwritten: the old file may be a link to somebody else's.
        (directory / name).unlink(missing_ok=True)
    _fill(directory, {path.name: path.read_bytes() for path in incoming.iterdir()})
    rename_durably(incoming, directory / SETTLED)
    _remove(directory / SETTLED)


def _fill(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        write_new(folder / name, content)
    flush_folder(folder)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
