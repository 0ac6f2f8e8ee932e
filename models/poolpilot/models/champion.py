"""The shipped champions: the models that are used unless told otherwise, one for each kind of server."""

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

from poolpilot.errors import ArtefactError
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.artefact_folder import holds_artefact

Kind = Literal["native", "mariadb"]

CHAMPIONS: Mapping[Kind, tuple[str, str]] = {
    "native": ("champion", "POOLPILOT_CHAMPION"),
    "mariadb": ("champion_mariadb", "POOLPILOT_MARIADB_CHAMPION"),
}
"""Kind of server to the folder in the package and the environment variable that names another one."""


def champion_folder(path: Path | None = None, kind: Kind = "native") -> Path:
    """Folder of the champion: the argument, else the environment variable, else the one in the package."""
    if path is not None:
        return path
    folder, variable = CHAMPIONS[kind]
    named = os.environ.get(variable)
    return Path(named) if named else Path(str(files("poolpilot.models") / folder))


def load_champion(path: Path | None = None, kind: Kind = "native") -> Artefact:
    """Loads and checks the champion for a kind of server.

    Raises:
        DamagedArtefactError: A file of it is missing, unreadable or not what was written.
        ArtefactError: There is none, or it does not fit this version.
    """
    folder = champion_folder(path, kind)
    if not holds_artefact(folder):
        raise ArtefactError(
            f"there is no champion in {folder}; run `poolpilot train` and then `poolpilot promote`, "
            f"name another folder with {CHAMPIONS[kind][1]}, or reinstall poolpilot"
        )
    return load(folder)
