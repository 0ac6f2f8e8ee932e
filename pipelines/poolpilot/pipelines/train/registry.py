"""The model registry: versions found by the digest of their artefact, and the alias of the champion."""

from collections.abc import Sequence
from pathlib import Path

from mlflow import MlflowClient

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.models.artefact import load
from poolpilot.models.card import ModelCard
from poolpilot.models.mlflow.packaging import REGISTERED_NAME, log_artefact_model

DIGEST_TAG = "artefact_digest"
STATUS_TAG = "validation_status"


def register(folder: Path, examples: Sequence[WorkloadSweep]) -> str:
    """Makes an artefact a version of the registered model, unless it is one already; returns the version.

    Args:
        folder: Folder of the artefact.
        examples: Sweeps, whose first window becomes the input example.

    Raises:
        ArtefactError: The folder holds no sound artefact.
    """
    artefact = load(folder)
    digest = artefact.digest
    client = MlflowClient()
    known = client.search_model_versions(f"name = '{REGISTERED_NAME}'")
    found = next((str(one.version) for one in known if one.tags.get(DIGEST_TAG) == digest), None)
    if found is not None:
        return found
    sweep = examples[0]
    first = next(iter(sweep.entries.values())).windows[0]
    info = log_artefact_model(folder, [first], sweep.limits, sweep.objective)
    version = str(info.registered_model_version)
    client.set_model_version_tag(REGISTERED_NAME, version, DIGEST_TAG, digest)
    client.update_model_version(REGISTERED_NAME, version, description=description_of(artefact.card))
    return version


def description_of(card: ModelCard) -> str:
    """What a version is, what it is for and what it must not be used for, in Markdown."""
    processors = card.out_of_distribution.cpus_in_words
    regret = card.metrics.get("validation.predicted.regret_mean")
    learner = "" if card.variant is None else f" by `{card.variant}`"
    judged = "" if regret is None else f" Mean regret on the validation workloads: {100 * regret:.1f} %."
    return (
        f"Names one of {len(card.grid)} configurations of a thread pool from windows of its workload, for servers of "
        f"the kind `{card.kind}` with {processors} processors; for others it gives no advice.{judged}\n\n"
        f"Written by {card.created_by}; trained on the records `{card.training_digest[:12]}`{learner}. Input: the "
        "column `body`, the JSON text of a request as `POST /v1/predict` takes it."
    )


def set_status(version: str, status: str) -> None:
    """Notes on a version what the gate said of it."""
    MlflowClient().set_model_version_tag(REGISTERED_NAME, version, STATUS_TAG, status)


def set_production_alias(version: str, alias: str) -> None:
    """Moves the alias of a champion, such as `champion` or `champion_mariadb`, to a version."""
    MlflowClient().set_registered_model_alias(REGISTERED_NAME, alias, version)
