"""What training reads, which stages it runs, and where it writes."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.all_action import AllActionSettings
from poolpilot.agent.marwil import MarwilSettings
from poolpilot.agent.ppo import PpoSettings
from poolpilot.agent.validation import ValidationSettings
from poolpilot.env.observation import ENTRIES
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.models.card import PredictorSettings
from poolpilot.models.out_of_distribution import DistributionSettings
from poolpilot.pipelines.evaluation import EvaluationSettings
from poolpilot.pipelines.rivals import RivalSettings


class TrainSettings(ProgramSettings):
    """Settings of `poolpilot train`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_TRAIN_")

    store: Path = Field(default=Path("pipelines/records"), description="Folder of the record store.")
    training_stores: tuple[Path, ...] = Field(
        default=(),
        description="Folders of the stores to learn from, such as pipelines/simulated; none is the store itself. "
        "Validation is always its own.",
    )
    output: Path = Field(default=Path("artefact"), description="Folder the model artefact is written to.")
    tracking: Path = Field(default=Path("tracking"), description="Folder of the local MLflow store.")
    use_ppo: bool = Field(default=True, description="Whether PPO refines the network on replayed sweeps.")
    use_marwil: bool = Field(default=True, description="Whether MARWIL trains a variant on logged decisions.")
    decisions: int = Field(default=3, ge=1, le=ENTRIES - 1, description="Tuples that the judged refiner may set.")
    all_action: AllActionSettings = AllActionSettings()
    ppo: PpoSettings = PpoSettings()
    marwil: MarwilSettings = MarwilSettings()
    choice: ValidationSettings = ValidationSettings()
    familiarity: DistributionSettings = DistributionSettings()
    predictor: PredictorSettings = PredictorSettings()
    comparison: EvaluationSettings = EvaluationSettings()
    rivals: RivalSettings = RivalSettings()
