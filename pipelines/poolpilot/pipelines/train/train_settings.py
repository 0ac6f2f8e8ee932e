"""What training reads, which stages it runs, and where it writes."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.training.all_action import AllActionSettings
from poolpilot.agent.training.marwil import MarwilSettings
from poolpilot.agent.training.ppo import PpoSettings
from poolpilot.agent.training.validation import ValidationSettings
from poolpilot.featurizer.schema import feature_names
from poolpilot.models.card import PredictorSettings
from poolpilot.models.champion import Kind, any_machine_folder
from poolpilot.models.latent.ratios import FEATURES_OF_RATIOS
from poolpilot.models.out_of_distribution import DistributionSettings
from poolpilot.pipelines.evaluate.record_settings import KindRecordSettings
from poolpilot.pipelines.store.older_timer import OlderTimer

Features = Literal["all", "ratios"]
"""What a network is shown: all features, or those alone of which the ratios are made."""


class TrainSettings(KindRecordSettings):
    """Settings of `poolpilot learn train`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_TRAIN_")

    server: Kind = Field(
        default="native",
        description="Kind of server the model is for; for mariadb its store, both views of it, and the model for "
        "machines of any size to start from are the defaults.",
    )
    training_stores: tuple[Path, ...] = Field(
        default=(),
        description="Folders of the stores to learn from, such as pipelines/simulated; none is the store itself. "
        "Validation is always its own.",
    )
    older_timer: OlderTimer = False
    server_views: bool = Field(
        default=False, description="Whether to learn every sweep also without the clients' reports, as for MariaDB."
    )
    features: Features = Field(
        default="all",
        description="What the network is shown: all features, or those alone of which the ratios are made by which "
        "known workloads are told apart on any machine.",
    )
    initial: Path | None = Field(
        default=None, description="Folder of a model to start from (fine-tuning); random weights if not given."
    )
    output: Path = Field(default=Path("artefact"), description="Folder the model artefact is written to.")
    use_ppo: bool = Field(default=True, description="Whether PPO refines the network on replayed sweeps.")
    use_marwil: bool = Field(default=True, description="Whether MARWIL trains a variant on logged decisions.")
    ray_address: str | None = Field(
        default=None,
        description="Address of a Ray to join for PPO and MARWIL, such as 10.0.0.5:6379, auto for one on this host, or "
        "local to start one; if not given RAY_ADDRESS, else a local one.",
    )
    all_action: AllActionSettings = AllActionSettings()
    ppo: PpoSettings = PpoSettings()
    marwil: MarwilSettings = MarwilSettings()
    choice: ValidationSettings = ValidationSettings()
    familiarity: DistributionSettings = DistributionSettings()
    predictor: PredictorSettings = PredictorSettings()

    @property
    def hidden_features(self) -> tuple[str, ...]:
        """Features that the network is not shown, in the order of the schema."""
        if self.features == "all":
            return ()
        return tuple(name for name in feature_names() if name not in FEATURES_OF_RATIOS)

    def for_mariadb(self) -> dict[str, Any]:
        """See `KindRecordSettings.for_mariadb`; and another recipe, from the model on that has seen most."""
        return {
            **super().for_mariadb(),
            "server_views": True,
            "initial": any_machine_folder(),
            # A handful of validation workloads, some chaotic, are too few to stop or to choose a variant by.
            "all_action": AllActionSettings(
                huber_delta=1.0, epochs=60, schedule="cosine", keep="last", standardise=True
            ),
            "use_ppo": False,
            "use_marwil": False,
            # Nobody measures what follows an advice, and windows are noisy: it must be surely better.
            "predictor": PredictorSettings(min_gain=0.2, caution=0.5),
        }

    @model_validator(mode="after")
    def _one_ray(self) -> Self:
        """Both algorithms go to the Ray of `ray_address`, unless they have an address of their own."""
        here = {"address": self.ray_address}
        for name, algorithm in (("ppo", self.ppo), ("marwil", self.marwil)):
            if self.ray_address is not None and algorithm.ray.address is None:
                ray = algorithm.ray.model_copy(update=here)
                object.__setattr__(self, name, algorithm.model_copy(update={"ray": ray}))
        return self
