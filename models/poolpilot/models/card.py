"""The model card: all that a set of weights means, as stored in `model.json`."""

import json
import math
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.objective import Objective
from poolpilot.featurizer.schema import SCHEMA_VERSION, feature_table
from poolpilot.models.architecture import Architecture
from poolpilot.models.out_of_distribution import OutOfDistribution

ModelKind = Literal["native", "mariadb"]
"""Kind of server that a model is for: the embedded pool, or MariaDB."""

Variant = Literal["all_action", "ppo", "marwil"]
"""Stage of training that weights come from: the exact loss alone, or RLlib's PPO or MARWIL after it."""

TIMED_ROUNDS = "active_round_us_mean"
"""A feature that the embedded pool always has and no MariaDB ever: it does not time its rounds."""


def program() -> str:
    """Name and version of this program."""
    try:
        return f"poolpilot {version('poolpilot')}"
    except PackageNotFoundError:
        return "poolpilot, not installed"


class FeatureRow(BaseModel):
    """One feature as the model was trained on it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="Name in the schema.")
    unit: str = Field(description="Unit of the natural value.")
    tier: str = Field(description="'core' where every server gives it, else 'rich'.")
    low: float = Field(description="Smallest natural value accepted.")
    high: float = Field(description="Largest natural value accepted.")
    knee: float | None = Field(description="Where the logarithmic scale begins; None for a linear one.")
    derived: bool = Field(description="Whether it is computed from other measures by an assumption.")
    derivation: str = Field(description="That assumption in words.")

    @property
    def meaning(self) -> tuple[str, str, float, float, float | None]:
        """The part that must agree for weights to mean the same."""
        return (self.name, self.unit, self.low, self.high, self.knee)


def current_features() -> tuple[FeatureRow, ...]:
    """The feature schema of this program."""
    return tuple(FeatureRow.model_validate(row) for row in feature_table())


class PredictorSettings(BaseModel):
    """When a predictor speaks up, and how it states its uncertainty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_gain: float = Field(
        default=0.02, description="Gain in ln J that a change must promise, after what caution takes off."
    )
    caution: float = Field(
        default=0.0,
        ge=0.0,
        description="Standard deviations between members taken off the gain first; 1 or more where none verifies.",
    )
    max_forgone: float = Field(
        default=0.1,
        ge=0.0,
        description="Promised gain in ln J that may be left where it is not sure; above it only trying tells.",
    )
    indifference: float = Field(
        default=0.01, ge=0.0, description="Gain in ln J below the best that is given up for a smaller pool."
    )
    probe_deviations: float = Field(
        default=3.0, ge=0.0, description="Deviations between members that a probe hopes for above their mean gain."
    )
    max_disagreement: float = Field(
        default=1.0, gt=0.0, description="Standard deviation of the gain over members above which it abstains."
    )
    tolerance: float = Field(
        default=1.0, ge=1.0, description="Multiple of the familiar distance beyond which it abstains."
    )
    deviations: float = Field(
        default=1.28, gt=0.0, description="Half width of the interval in standard deviations; 1.28 holds 80 %."
    )
    expires_s: float = Field(default=300.0, gt=0.0, description="Seconds after which a prediction is stale.")

    def relaxed_for_trials(self) -> Self:
        """The same for a caller who measures what follows and goes back: it may try what is not surely better."""
        tried = {"min_gain": -math.inf, "max_disagreement": math.inf, "tolerance": 2.0 * self.tolerance}
        return self.model_copy(update=tried)


class ModelCard(BaseModel):
    """What the weights beside it are, were trained on and may be used for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    created_by: str = Field(default_factory=program, description="Program and version that wrote the artefact.")
    architecture: Architecture = Field(description="Layer sizes of the network.")
    schema_version: int = Field(default=SCHEMA_VERSION, description="Version of the feature schema.")
    features: tuple[FeatureRow, ...] = Field(
        default_factory=current_features, description="The features in the order of the vector."
    )
    grid: ActionGrid = Field(
        validation_alias=AliasChoices("grid", "ladder"),
        serialization_alias="ladder",  # as in every card that was ever written
        description="The configurations it chooses from.",
    )
    training_digest: str = Field(description="Digest of the records it was trained on.")
    static_tuple: tuple[int, int, int] | None = Field(
        default=None,
        description="Core of the single best static configuration of the training workloads, to compare with.",
    )
    metrics: dict[str, float] = Field(default={}, description="Results on the validation workloads.")
    hidden_features: tuple[str, ...] = Field(
        default=(), description="Features missing in all that it was shown, and in all that it sees; none is all shown."
    )
    objective: Objective = Field(default=Objective(), description="The objective it was trained for.")
    residual_std: float = Field(
        ge=0.0, description="Standard deviation of measured less predicted gain on the validation workloads."
    )
    out_of_distribution: OutOfDistribution = Field(description="Statistics that tell unfamiliar windows.")
    settings: PredictorSettings = Field(default=PredictorSettings(), description="When it speaks up.")
    server_kind: ModelKind | None = Field(
        default=None, description="Kind of server that it is for; cards of older models do not say."
    )
    variant: Variant | None = Field(
        default=None, description="Stage of training that its weights come from; cards of older models do not say."
    )

    @property
    def kind(self) -> ModelKind:
        """Kind of server that it is for; where the card does not say, by whether it has seen rounds that were timed."""
        if self.server_kind is not None:
            return self.server_kind
        names = [row.name for row in self.features]
        timed = TIMED_ROUNDS in names and self.out_of_distribution.low[names.index(TIMED_ROUNDS)] is not None
        return "native" if timed else "mariadb"

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        width = self.architecture.features
        statistics = self.out_of_distribution
        vectors = (self.features, statistics.low, statistics.high, statistics.spread, *statistics.references)
        if any(len(vector) != width for vector in vectors):
            raise ValueError(f"every vector of features must have {width} entries")
        if self.architecture.candidates != len(self.grid):
            raise ValueError(f"the grid has {len(self.grid)} configurations, not {self.architecture.candidates}")
        unknown = set(self.hidden_features) - {row.name for row in self.features}
        if unknown:
            raise ValueError(f"no feature to hide is named {', '.join(sorted(unknown))}")
        return self

    def as_json(self) -> str:
        """The card as stored: one line per field, in the order declared."""
        fields = self.model_dump(mode="json", by_alias=True).items()
        lines = (f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in fields)
        return "{\n" + ",\n".join(lines) + "\n}\n"
