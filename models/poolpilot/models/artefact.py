"""A model on disk: weights, card and a manifest of digests; no pickle is written or read."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from poolpilot.featurizer.errors import ArtefactError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.architecture import Architecture, ladder_coordinates
from poolpilot.models.card import ModelCard, current_features

WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "model.json"
MANIFEST_FILE = "manifest.json"
REMEDY = "train and promote it again (`poolpilot train`, `poolpilot promote`) or copy the whole folder again"


@dataclass(frozen=True)
class Artefact:
    """A loaded and checked model.

    Attributes:
        weights: Arrays by name, as `forward` takes them.
        card: What they mean.
        digest: sha256 of the manifest, which holds the sha256 of both other files.
    """

    weights: Mapping[str, NDArray[np.float32]]
    card: ModelCard
    digest: str


def save(directory: Path, weights: Mapping[str, NDArray[np.float32]], card: ModelCard) -> Artefact:
    """Writes an artefact, the manifest last, and returns it as loaded back.

    Args:
        directory: Folder to write to; made if missing.
        weights: Arrays by name, as `Architecture.shapes` lists them.
        card: What they mean.

    Raises:
        ArtefactError: The weights do not fit the card, or the folder cannot be written.
    """
    _check_weights(directory, weights, card)
    contents = {
        WEIGHTS_FILE: save_tensors({name: np.array(array, order="C") for name, array in sorted(weights.items())}),
        CARD_FILE: card.as_json().encode(),
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    contents[MANIFEST_FILE] = (json.dumps({"sha256": digests}, indent=1) + "\n").encode()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (directory / name).write_bytes(content)
    except OSError as error:
        raise ArtefactError(
            f"cannot write the model to {directory}: {error.strerror}; choose another folder"
        ) from error
    return load(directory)


def load(directory: Path) -> Artefact:
    """Reads and checks an artefact.

    Raises:
        ArtefactError: A file is missing, damaged, of another schema or of an unknown architecture.
    """
    manifest = _read(directory, MANIFEST_FILE)
    digests = _json(directory, MANIFEST_FILE, manifest).get("sha256")
    contents = {}
    for name in (WEIGHTS_FILE, CARD_FILE):
        contents[name] = _read(directory, name)
        if not isinstance(digests, dict) or digests.get(name) != hashlib.sha256(contents[name]).hexdigest():
            raise ArtefactError(f"{directory / name} does not match its digest in {MANIFEST_FILE}; {REMEDY}")
    card = _card(directory, _json(directory, CARD_FILE, contents[CARD_FILE]))
    try:
        weights = load_tensors(contents[WEIGHTS_FILE])
    except SafetensorError as error:
        raise ArtefactError(f"{directory / WEIGHTS_FILE} is not a safetensors file ({error}); {REMEDY}") from error
    _check_weights(directory, weights, card)
    return Artefact(weights, card, hashlib.sha256(manifest).hexdigest())


def _read(directory: Path, name: str) -> bytes:
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise ArtefactError(f"cannot read {directory / name} ({error.strerror}); {REMEDY}") from error


def _json(directory: Path, name: str, content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except ValueError as error:
        raise ArtefactError(f"{directory / name} is not JSON ({error}); {REMEDY}") from error
    if not isinstance(parsed, dict):
        raise ArtefactError(f"{directory / name} holds no JSON object; {REMEDY}")
    return parsed


def _card(directory: Path, fields: dict[str, Any]) -> ModelCard:
    path = directory / CARD_FILE
    maker = fields.get("created_by", "an unknown program")
    known = Architecture.model_fields["kind"].default
    architecture = fields.get("architecture")
    kind = architecture.get("kind") if isinstance(architecture, dict) else architecture
    if kind != known:
        raise ArtefactError(
            f"{path} has the architecture {kind!r} but this version knows {known!r} only; "
            f"install the version that wrote it ({maker}) or train it again"
        )
    if fields.get("schema_version") != SCHEMA_VERSION:
        raise ArtefactError(
            f"{path} was trained on version {fields.get('schema_version')} of the feature schema but this version "
            f"reads {SCHEMA_VERSION}; install the version that wrote it ({maker}) or train it again"
        )
    try:
        card = ModelCard.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the card"
        raise ArtefactError(f"{path}: {place}: {first['msg']}; {REMEDY}") from error
    _check_features(path, card, maker)
    return card


def _check_features(path: Path, card: ModelCard, maker: str) -> None:
    trained = [row.meaning for row in card.features]
    current = [row.meaning for row in current_features()]
    if trained != current:
        pairs = zip(trained, current, strict=False)
        named = next((old[0] for old, new in pairs if old != new), "their number")
        raise ArtefactError(
            f"{path} was trained on other features (first difference: {named}); "
            f"install the version that wrote it ({maker}) or train it again"
        )


def _check_weights(directory: Path, weights: Mapping[str, NDArray[np.float32]], card: ModelCard) -> None:
    path = directory / WEIGHTS_FILE
    shapes = card.architecture.shapes
    if set(weights) != set(shapes):
        name = min(set(weights) ^ set(shapes))
        raise ArtefactError(f"{path}: the array {name!r} is missing or unknown; {REMEDY}")
    for name, shape in shapes.items():
        array = weights[name]
        if array.shape != shape or array.dtype != np.float32:
            raise ArtefactError(f"{path}: {name} is {array.dtype}{array.shape}, not float32{shape}; {REMEDY}")
        if not np.isfinite(array).all():
            raise ArtefactError(f"{path}: {name} holds values that are not finite; {REMEDY}")
    if not np.array_equal(weights["candidates"], ladder_coordinates(card.ladder)):
        raise ArtefactError(f"{path}: the candidates are not those of the card's ladder; {REMEDY}")
