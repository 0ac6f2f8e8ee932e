"""Digests of the models that answer here, and whether their files are what was written."""

import os
from collections.abc import Mapping
from typing import Any

from poolpilot.errors import ArtefactError
from poolpilot.models.artefact_folder import model_digest, read
from poolpilot.models.champion import ANY_MACHINE, CHAMPIONS, any_machine_folder, champion_folder
from poolpilot.models.latent.shipped_curves import VARIABLE, load_curves


def model_digests() -> dict[str, Any]:
    """Each model by the kind of server that it answers for, and the response curves."""
    found: dict[str, Any] = {}
    networks = [(str(kind), champion_folder(kind=kind), variable) for kind, (_, variable) in CHAMPIONS.items()]
    for name, folder, variable in (*networks, ("any machine", any_machine_folder(), ANY_MACHINE[1])):
        try:
            found[name] = {"digest": model_digest(read(folder)), "folder": str(folder), **_named(variable)}
        except ArtefactError as error:
            found[name] = {"error": str(error), "folder": str(folder), **_named(variable)}
    try:
        found["curves"] = {"digest": load_curves().digest, **_named(VARIABLE)}
    except ArtefactError as error:
        found["curves"] = {"error": str(error), **_named(VARIABLE)}
    return found


def _named(variable: str) -> Mapping[str, str]:
    """Says which variable has named it, where one has."""
    return {"named_by": variable} if os.environ.get(variable) else {}
