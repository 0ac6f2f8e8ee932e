"""A registered version in a registry of its own, made once: logging one and making the registry take seconds."""

from collections.abc import Iterator
from typing import NamedTuple

import mlflow
import pytest
from mlflow.models.model import ModelInfo
from tests.models.conftest import CPUS, make_card, make_weights, make_window

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.models.artefact import Artefact, save
from poolpilot.models.mlflow.packaging import REGISTERED_NAME, log_artefact_model


class Registered(NamedTuple):
    """A version and what it was made of; to be read only."""

    artefact: Artefact
    info: ModelInfo
    experiment: str

    @property
    def address(self) -> str:
        return f"models:/{REGISTERED_NAME}/{self.info.registered_model_version}"


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registered]:
    """A version whose members agree, so that it is always sure; its run goes on while the tests of the module do."""
    folder = tmp_path_factory.mktemp("registry")
    artefact = save(folder / "unanimous", make_weights(alike=True), make_card())
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    experiment = mlflow.create_experiment("packaging", artifact_location=(folder / "store").as_uri())
    with mlflow.start_run(experiment_id=experiment):
        info = log_artefact_model(folder / "unanimous", [make_window(1)], KnobSpace.stock(CPUS), Objective())
        yield Registered(artefact, info, experiment)
    mlflow.set_tracking_uri(before)
