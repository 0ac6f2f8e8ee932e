"""Networks among the rivals: each after one look, as a policy that is asked again, and probing where it is not sure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from poolpilot.agent.training.validation import GreedyPolicy
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.predictor import Prediction, Predictor, ScorePredictor
from poolpilot.pipelines.evaluate.baselines import Unguarded
from ratio_view import as_ratios_see

ON_RATIOS = "_on_ratios"
"""What the name of a network ends with that sees the features of the ratios alone."""

ALL_ACTION, PPO, MARWIL = "all_action", "ppo", "marwil"
"""Networks of the exact loss, refined by PPO, and by MARWIL."""

RIVALS: Mapping[str, str] = {
    f"{name}{view}_policy": f"{ALL_ACTION}{view}_probing"
    for name in (ALL_ACTION, PPO, MARWIL)
    for view in ("", ON_RATIOS)
}
"""Which probing network a policy must beat: the one of the exact loss with the same features."""


@dataclass(frozen=True)
class RivalNetworks:
    """Networks by name.

    Attributes:
        artefacts: The networks.
    """

    artefacts: Mapping[str, Artefact] = field(default_factory=dict)

    @classmethod
    def of(cls, named: Sequence[str]) -> Self:
        """Loads what is given as `NAME=FOLDER`.

        Raises:
            ArtefactError: A folder holds no network.
        """
        pairs = (one.partition("=") for one in named)
        return cls({name: load(Path(folder)) for name, _, folder in pairs})

    def __bool__(self) -> bool:
        return bool(self.artefacts)

    @property
    def digests(self) -> dict[str, str]:
        """What tells the networks apart, by name."""
        return {name: one.digest for name, one in self.artefacts.items()}

    def once(self) -> dict[str, Predictor]:
        """Every network after one look, with its guards and without."""
        found: dict[str, Predictor] = {}
        for name, artefact in self.artefacts.items():
            guarded = ScorePredictor(artefact)
            found |= {name: seen_by(name, guarded), f"{name}_unguarded": seen_by(name, Unguarded(guarded))}
        return found

    def tried(self) -> dict[str, Predictor]:
        """Every network as a policy, and probing by its upper confidence bound."""
        found: dict[str, Predictor] = {}
        for name, artefact in self.artefacts.items():
            policy = GreedyPolicy(artefact.weights, artefact.card.grid)
            found |= {
                f"{name}_policy": seen_by(name, policy),
                f"{name}_probing": seen_by(name, ScorePredictor.for_trials(artefact)),
            }
        return found


def seen_by(name: str, predictor: Predictor) -> Predictor:
    """The predictor with the features that a network of this name sees."""
    if not name.endswith(ON_RATIOS):
        return predictor
    return RatioProber(predictor) if isinstance(predictor, ScorePredictor) else RatioSeer(predictor)


class RatioSeer:
    """A predictor that sees the features of the ratios alone.

    Args:
        predictor: The predictor.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        return self.predictor.predict([as_ratios_see(window) for window in windows], limits, objective)


class RatioProber(RatioSeer):
    """The same of a network that probes.

    Args:
        predictor: The network.
    """

    def __init__(self, predictor: ScorePredictor) -> None:
        super().__init__(predictor)
        self.network = predictor

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        """The tuple that may be better; see `ProbingPredictor.probe`."""
        return self.network.probe([as_ratios_see(window) for window in windows], limits, objective)
