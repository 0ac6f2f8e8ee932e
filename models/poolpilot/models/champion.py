"""The shipped champion: the model that `predict`, `serve` and the demo use unless told otherwise."""

import os
from importlib.resources import files
from pathlib import Path

from poolpilot.featurizer.errors import ArtefactError
from poolpilot.models.artefact import MANIFEST_FILE, Artefact, load

CHAMPION_VARIABLE = "POOLPILOT_CHAMPION"
"""Environment variable that names another folder."""


def champion_folder(path: Path | None = None) -> Path:
    """Folder of the champion: the argument, else the environment variable, else the one in the package."""
    if path is not None:
        return path
    named = os.environ.get(CHAMPION_VARIABLE)
    return Path(named) if named else Path(str(files("poolpilot.models") / "champion"))


def load_champion(path: Path | None = None) -> Artefact:
    """Loads and checks the champion.

    Raises:
        ArtefactError: There is none, or it is damaged or does not fit this version.
    """
    folder = champion_folder(path)
    if not (folder / MANIFEST_FILE).is_file():
        raise ArtefactError(
            f"there is no champion in {folder}; run `poolpilot train` and then `poolpilot promote`, "
            f"name another folder with {CHAMPION_VARIABLE}, or reinstall poolpilot"
        )
    return load(folder)
