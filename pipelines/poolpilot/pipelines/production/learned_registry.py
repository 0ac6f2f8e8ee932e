"""Learned models in MLflow's registry: a version for each, and the alias of the one in force."""

from contextlib import suppress

from mlflow import MlflowClient
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

LEARNED_NAME = "poolpilot-learned"
IN_FORCE = "in_force"
CURVES_TAG = "curves_digest"


def register_learned(digest: str, run_id: str) -> str:
    """Makes the folder that a run keeps under `model` a version, unless it is one; returns the version.

    Curves that an earlier run has learned too are another version: its folder has what they were judged by then.

    Args:
        digest: Digest of its curves.
        run_id: The run.
    """
    client = MlflowClient()
    known = [str(one.version) for one in _versions_of(client, digest) if one.run_id == run_id]
    if known:
        return known[-1]
    with suppress(MlflowException):  # there already
        client.create_registered_model(LEARNED_NAME, description="Folders that `poolpilot learn` has left.")
    made = client.create_model_version(LEARNED_NAME, f"runs:/{run_id}/model", run_id, tags={CURVES_TAG: digest})
    return str(made.version)


def move_alias(digest: str) -> str | None:
    """Points the alias at the latest version of what is in force; takes it away where that has none, as what ships.

    Args:
        digest: Digest of its curves.

    Returns:
        The version; None where there is none.
    """
    client = MlflowClient()
    versions = _versions_of(client, digest)
    if versions:
        latest = str(versions[-1].version)
        client.set_registered_model_alias(LEARNED_NAME, IN_FORCE, latest)
        return latest
    with suppress(MlflowException):  # nothing was registered yet
        client.delete_registered_model_alias(LEARNED_NAME, IN_FORCE)
    return None


def _versions_of(client: MlflowClient, digest: str) -> list[ModelVersion]:
    """The versions of some curves, the latest last."""
    found = client.search_model_versions(f"name = '{LEARNED_NAME}'")
    return sorted((one for one in found if one.tags.get(CURVES_TAG) == digest), key=lambda one: int(one.version))
