"""The files of a learned model: curves, how it was judged, the machine it was learned for, and how it is used."""

import json
import lzma
from collections.abc import Mapping
from typing import Any

from poolpilot.models.latent.learned_folder import CURVES_FILE
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
