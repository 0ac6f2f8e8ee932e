"""A model on disk: weights, card, golden vectors, perhaps a repository, and a manifest of digests; pickle nowhere."""

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

from poolpilot.errors import ArtefactError, DamagedArtefactError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.architecture import Architecture, grid_coordinates
from poolpilot.models.artefact_folder import (
    CARD_FILE,
    GOLDEN_FILE,
    REMEDY,
    REPOSITORY_FILE,
    WEIGHTS_FILE,
    model_digest,
    read,
    write,
)
from poolpilot.models.card import ModelCard, current_features
from poolpilot.models.forward import forward
from poolpilot.models.golden.golden_vectors import GoldenVectors
from poolpilot.models.workload_repository import WorkloadRepository


@dataclass(frozen=True)
class Artefact:
    """A loaded and checked model.

    Attributes:
        weights: Arrays by name, as `forward` takes them.
        card: What they mean.
        digest: Digest of weights and card: what predicts.
        repository: What the training workloads looked like; None where the model has none.
        golden: What it answered when it was saved; None where an older version has saved it.
    """

    weights: Mapping[str, NDArray[np.float32]]
    card: ModelCard
    digest: str
    repository: WorkloadRepository | None = None
    golden: GoldenVectors | None = None

    def check(self) -> None:
        """Has the network answer its golden vectors, where it has any.

        Raises:
            ArtefactError: It does not answer what it did when it was saved.
        """
        if self.golden is not None:
            self.golden.check(lambda inputs: forward(self.weights, inputs).gain, f"the model {self.digest[:12]}")


def save(
    directory: Path,
    weights: Mapping[str, NDArray[np.float32]],
    card: ModelCard,
    repository: WorkloadRepository | None = None,
) -> Artefact:
    """Writes an artefact, all of it or nothing, and returns it as loaded back.

    Args:
        directory: Folder to write to; made if missing.
        weights: Arrays by name, as `Architecture.shapes` lists them.
        card: What they mean.
        repository: What the training workloads looked like.

    Raises:
        ArtefactError: The weights do not fit the card, or the folder cannot be written.
    """
    _check_weights(directory, weights, card)
    files = {
        WEIGHTS_FILE: save_tensors({name: np.array(array, order="C") for name, array in sorted(weights.items())}),
        CARD_FILE: card.as_json().encode(),
    }
    if repository is not None:
        files[REPOSITORY_FILE] = repository.as_json().encode()
    golden = GoldenVectors.of(lambda inputs: forward(weights, inputs).gain, card.grid)
    files[GOLDEN_FILE] = golden.as_json().encode()
    write(directory, files)
    return load(directory)


def load(directory: Path) -> Artefact:
    """Reads and checks an artefact.

    Raises:
        DamagedArtefactError: A file is missing, unreadable or not what was written.
        ArtefactError: It is of another schema, of an unknown architecture, or does not answer what it did.
    """
    return parse(read(directory), directory)


def parse(files: Mapping[str, bytes], directory: Path) -> Artefact:
    """Makes an artefact of files that were read and checked before.

    Args:
        files: Content by name, as `artefact_folder.read` returns it.
        directory: Where they come from, for what is said of them.

    Raises:
        DamagedArtefactError: A file is missing or not what was written.
        ArtefactError: It is of another schema, of an unknown architecture, or does not answer what it did.
    """
    card = _card(directory, _json(directory, CARD_FILE, files[CARD_FILE]))
    try:
        weights = load_tensors(files[WEIGHTS_FILE])
    except SafetensorError as error:
        raise DamagedArtefactError(
            f"{directory / WEIGHTS_FILE} is not a safetensors file ({error}); {REMEDY}"
        ) from error
    _check_weights(directory, weights, card)
    repository = (
        WorkloadRepository.from_json(files[REPOSITORY_FILE], directory / REPOSITORY_FILE)
        if REPOSITORY_FILE in files
        else None
    )
    golden = GoldenVectors.from_json(files[GOLDEN_FILE], str(directory / GOLDEN_FILE)) if GOLDEN_FILE in files else None
    artefact = Artefact(weights, card, model_digest(files), repository, golden)
    artefact.check()
    return artefact


def _json(directory: Path, name: str, content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedArtefactError(f"{directory / name} is not JSON ({error}); {REMEDY}") from error
    if not isinstance(parsed, dict):
        raise DamagedArtefactError(f"{directory / name} holds no JSON object; {REMEDY}")
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
    if not np.array_equal(weights["candidates"], grid_coordinates(card.grid)):
        raise ArtefactError(f"{path}: the candidates are not those of the card's grid; {REMEDY}")
