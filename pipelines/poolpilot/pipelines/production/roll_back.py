"""A model that does clearly worse in production than the one before it gives its place back, by itself."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.production.outcome_store import OutcomeStore
from poolpilot.pipelines.production.realised_gain import RealisedGain


class RollBackSettings(BaseModel):
    """When a model in force is given up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fewest: int = Field(default=20, ge=2, description="Decisions of a model from which on it is judged, or judged by.")
    margin: float = Field(
        default=0.01, ge=0.0, description="Gain in ln J that it must surely lose to the one before to be given up."
    )


@dataclass(frozen=True, slots=True)
class RollBack:
    """What the outcomes say of the model in force.

    Attributes:
        digest: Digest of the model that was in force.
        realised: What it has gained beside the one before; None where no learned model was in force.
        went_back_to: Digest of the model that is in force now; None where nothing has changed.
    """

    digest: str
    realised: RealisedGain
    went_back_to: str | None

    def in_words(self) -> str:
        """What was found, as a sentence."""
        became = "stays" if self.went_back_to is None else f"is rolled back to {self.went_back_to[:12]}"
        return f"the model {self.digest[:12]} {became}: {self.realised.in_words()}"


def roll_back_if_worse(
    shelf: ModelShelf, outcomes: OutcomeStore, settings: RollBackSettings | None = None
) -> RollBack | None:
    """Judges the model in force by what its decisions have gained, and goes back where it is clearly worse.

    The first model of a shelf has none before it and is left alone: that is what ships.

    Returns:
        What was found; None where there is nothing to go back to.

    Raises:
        ArtefactError: A model is damaged, or the link cannot be moved.
        StoreError: Outcomes or ledger cannot be read or written.
    """
    rules = settings or RollBackSettings()
    in_force = shelf.in_force()
    before = None if in_force is None else shelf.before(in_force.curves.digest)
    if in_force is None or before is None:
        return None
    earlier = shelf.model(before).digests
    # A network that both models ask tells them not apart.
    ours, theirs = outcomes.gains(in_force.digests - earlier), outcomes.gains(earlier - in_force.digests)
    if sum(map(len, theirs.values())) < rules.fewest:
        theirs = {}  # too few to be held against: a single one has no spread, and would shield any model for ever
    realised = RealisedGain.of(ours, theirs)
    went_back_to = None
    if realised.clearly_worse(rules.margin, rules.fewest):
        went_back_to = shelf.roll_back(realised.in_words())
    return RollBack(in_force.curves.digest, realised, went_back_to)
