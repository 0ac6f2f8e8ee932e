"""The shipped champions: the models that are used unless told otherwise, one for each kind of server."""

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.snapshot import ServerKind
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.artefact_folder import holds_artefact
from poolpilot.models.card import ModelKind

Kind = ModelKind

CHAMPIONS: Mapping[Kind, tuple[str, str]] = {
    "native": ("champion", "POOLPILOT_CHAMPION"),
    "mariadb": ("champion_mariadb", "POOLPILOT_MARIADB_CHAMPION"),
}
"""Kind of server to the folder in the package and the environment variable that names another one."""

ANY_MACHINE = ("champion_any_machine", "POOLPILOT_ANY_MACHINE_CHAMPION")
"""The same of the model that has learned from simulated machines of many sizes: it is asked about these, and about
pools of ours on machines whose number of processors the model of their kind does not know."""

MODEL_FOR: Mapping[ServerKind, Kind] = {"native": "native", "simulated": "native", "mariadb": "mariadb"}
"""Kind of server that a window comes from to the model that knows it; the simulator is one of the embedded pool."""


def champion_folder(path: Path | None = None, kind: Kind = "native") -> Path:
    """Folder of the champion: the argument, else the environment variable, else the one in the package."""
    return path if path is not None else _in_use(*CHAMPIONS[kind])


def any_machine_folder() -> Path:
    """Folder of the model for machines of any size: that of the environment variable, else the one in the package."""
    return _in_use(*ANY_MACHINE)


def _in_use(folder: str, variable: str) -> Path:
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
            f"there is no champion in {folder}; run `poolpilot learn train` and then `poolpilot learn promote`, "
            f"{_other_folder(folder, kind)}"
        )
    return load(folder)


def _other_folder(folder: Path, kind: Kind) -> str:
    """How to name another folder: as this one was named, which may be that of the variable by either way."""
    if folder == champion_folder(None, kind):
        return f"name another folder with {CHAMPIONS[kind][1]}, or reinstall poolpilot"
    return "or name another folder with --model (a challenger's with --set challenger=FOLDER)"


def load_any_machine() -> Artefact:
    """Loads and checks the model for machines of any size.

    Raises:
        DamagedArtefactError: A file of it is missing, unreadable or not what was written.
        ArtefactError: There is none, it does not fit this version, or is for another kind of server.
    """
    folder = any_machine_folder()
    if not holds_artefact(folder):
        raise ArtefactError(
            f"there is no model for machines of any size in {folder}; name another folder with {ANY_MACHINE[1]}, or "
            "reinstall poolpilot"
        )
    artefact = load(folder)
    if artefact.card.kind != "native":
        raise ArtefactError(
            f"the model in {folder} is for servers of the kind {artefact.card.kind!r}, and machines of any size are "
            f"known of pools of ours alone: name another folder with {ANY_MACHINE[1]}"
        )
    return artefact


def model_for(server_kind: ServerKind) -> Kind:
    """Which model knows the windows of a kind of server.

    Raises:
        FeatureError: None does.
    """
    if server_kind not in MODEL_FOR:
        raise FeatureError(
            "server_kind",
            f"server_kind is {server_kind!r}, and no model has learned from such servers; there are models for windows "
            f"of {', '.join(MODEL_FOR)}. A sweep or a climb needs no model",
        )
    return MODEL_FOR[server_kind]


def load_for(server_kind: ServerKind, path: Path | None = None) -> Artefact:
    """Loads the model that knows the windows of a kind of server.

    Args:
        server_kind: What the windows were measured on.
        path: Folder of a model to take instead of the champion of that kind.

    Raises:
        FeatureError: No model knows such windows.
        DamagedArtefactError: A file of it is missing, unreadable or not what was written.
        ArtefactError: There is none, it does not fit this version, or it is for another kind of server.
    """
    kind = model_for(server_kind)
    artefact = load_champion(path, kind)
    if artefact.card.kind != kind:
        raise ArtefactError(
            f"the model in {champion_folder(path, kind)} is for servers of the kind {artefact.card.kind!r}, and this "
            f"one is {server_kind!r}: name a model for {kind!r}, or none, for the champion of that kind"
        )
    return artefact
