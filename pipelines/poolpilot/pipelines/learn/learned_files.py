"""The files of a learned model: curves, how it was judged, the machine it was learned for, and how it is used."""

import hashlib
import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import ArtefactError
from poolpilot.models.latent.learned_folder import CURVES_FILE, MANIFEST_FILE
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.native_pool.simulation import Machine

EVALUATION_FILE, MACHINE_FILE, NOTES_FILE = "evaluation.json", "machine.json", "README.md"

NOTES = """# A model that `poolpilot learn` has left

Copy this whole folder to the production host. Nothing in it is run or unpickled; every file is checked against
`MANIFEST.json` when it is read.

    poolpilot advise DSN --model FOLDER                  # says what it would set, and sets nothing
    poolpilot tune DSN --model FOLDER                    # beside one server; sets nothing without --mode apply
    poolpilot serve --model FOLDER --outcomes OUTCOMES   # answers over HTTP, and keeps what became of it

`evaluation.json` says what it lost on workloads that it has not seen, beside what ships. `curves.json.xz` holds
{curves} response curves: {source}. Digest: `{digest}`.
"""


def learned_files(
    curves: ResponseCurves, evaluation: Mapping[str, Any], machine: Machine | None = None
) -> dict[str, bytes]:
    """The files of a model by their names.

    Args:
        curves: What was learned.
        evaluation: How it was judged, fit for JSON.
        machine: The machine that the simulator was calibrated to, where it was.
    """
    notes = NOTES.format(curves=len(curves.curves), source=curves.source, digest=curves.digest)
    files = {
        CURVES_FILE: lzma.compress(curves.as_json().encode()),
        EVALUATION_FILE: f"{json.dumps(evaluation, indent=1)}\n".encode(),
        NOTES_FILE: notes.encode(),
    }
    if machine is not None:
        files[MACHINE_FILE] = f"{machine.model_dump_json(indent=2)}\n".encode()
    return files


def renew_evaluation(folder: Path, evaluation: bytes) -> None:
    """Makes a judgement that of a model which has been judged before; nothing is written where it is the same.

    The model may be in force. So the manifest names no evaluation while that is replaced: what it does not name is not
    read, and whenever this is cut short the model is sound. Who has read the manifest before and reads the evaluation
    after refuses the folder once, and followers look again.

    Args:
        folder: Folder of a sound model.
        evaluation: What its file is to hold.

    Raises:
        ArtefactError: It cannot be written.
    """
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_bytes())
        digests, digest = dict(manifest["sha256"]), hashlib.sha256(evaluation).hexdigest()
        if digests.pop(EVALUATION_FILE, None) == digest:
            return
        _write_manifest(folder, {**manifest, "sha256": digests})
        write_durably(folder / EVALUATION_FILE, evaluation)
        _write_manifest(folder, {**manifest, "sha256": dict(sorted({**digests, EVALUATION_FILE: digest}.items()))})
    except OSError as error:
        raise ArtefactError(
            f"cannot write the evaluation of the model in {folder}: {error.strerror}; make it writable, or name "
            "another folder with --out"
        ) from error


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_durably(folder / MANIFEST_FILE, f"{json.dumps(manifest, indent=1)}\n".encode())
