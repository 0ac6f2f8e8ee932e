"""The folder that `poolpilot learn` leaves: response curves, maybe a network, and a manifest of all digests.

It is copied to production whole. A manifest names every file with its SHA-256 and is written last; what it does not
name is not read, and what does not match it is refused. A link to the folder is followed once, so that one that is
moved meanwhile mixes no two models.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.models.artefact import Artefact, parse
from poolpilot.models.artefact_folder import MODEL_FILES
from poolpilot.models.latent.response_curves import ResponseCurves

CURVES_FILE = "curves.json.xz"
MANIFEST_FILE = "MANIFEST.json"
NETWORK_FOLDER = "network"
FORMAT = 1

REMEDY = "copy the whole folder again, or learn anew (`poolpilot learn`)"


@dataclass(frozen=True)
class LearnedModel:
    """What was learned.

    Attributes:
        folder: Where it lies, links followed.
        curves: The response curves.
        network: A network for one kind of server; None where none was trained.
    """

    folder: Path
    curves: ResponseCurves
    network: Artefact | None = None

    @property
    def digests(self) -> frozenset[str]:
        """The digests by which its predictions name it."""
        return frozenset({self.curves.digest} | ({self.network.digest} if self.network else set()))


def holds_learned_model(folder: Path) -> bool:
    """Whether a folder is one that `poolpilot learn` has left, be it damaged."""
    return (folder / MANIFEST_FILE).is_file()


def write_learned_model(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes a folder and flushes it to the disk; the manifest comes last, so that a torn folder is none.

    Args:
        folder: The folder; made if missing.
        files: Content by path within the folder; the curves are among them.

    Raises:
        ArtefactError: It cannot be written.
    """
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    manifest = json.dumps({"format": FORMAT, "sha256": digests}, indent=1) + "\n"
    try:
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_durably(folder / name, content)
        write_durably(folder / MANIFEST_FILE, manifest.encode())
    except OSError as error:
        raise ArtefactError(
            f"cannot write the learned model to {folder}: {error.strerror}; choose another folder with --out"
        ) from error


def load_learned_model(folder: Path) -> LearnedModel:
    """Reads a folder and checks every file against the manifest.

    Raises:
        DamagedArtefactError: A file is missing, unreadable or not what was written.
        ArtefactError: Curves or network do not fit this version.
    """
    place = folder.resolve()
    listed = _listed(place)
    if CURVES_FILE not in listed:
        raise DamagedArtefactError(f"{place / MANIFEST_FILE} names no {CURVES_FILE}; {REMEDY}")
    contents = {name: _content(place / name) for name in listed}
    for name, digest in listed.items():
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            raise DamagedArtefactError(f"{place / name} does not match its digest in {MANIFEST_FILE}; {REMEDY}")
    curves = ResponseCurves.parse(contents[CURVES_FILE], place / CURVES_FILE)
    return LearnedModel(place, curves, _network(place, contents))


def _network(folder: Path, contents: Mapping[str, bytes]) -> Artefact | None:
    """The network among files that were checked; None where there is none."""
    prefix = f"{NETWORK_FOLDER}/"
    files = {name.removeprefix(prefix): content for name, content in contents.items() if name.startswith(prefix)}
    if not files:
        return None
    for name in MODEL_FILES:
        if name not in files:
            raise DamagedArtefactError(f"{folder / MANIFEST_FILE} names no {prefix}{name}; {REMEDY}")
    return parse(files, folder / NETWORK_FOLDER)


def _listed(folder: Path) -> dict[str, str]:
    """The digests of the manifest by file; every file is inside the folder."""
    path = folder / MANIFEST_FILE
    try:
        manifest = json.loads(_content(path))
        listed = {str(name): str(digest) for name, digest in manifest["sha256"].items()}
        sound = manifest["format"] == FORMAT
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedArtefactError(f"{path} is not a manifest ({error!r}); {REMEDY}") from error
    outside = [name for name in listed if Path(name).is_absolute() or ".." in Path(name).parts]
    if not sound or outside:
        raise DamagedArtefactError(f"{path} is not a manifest of this version; {REMEDY}")
    return listed


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedArtefactError(f"cannot read {path} ({error.strerror}); {REMEDY}") from error
