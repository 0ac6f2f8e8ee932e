"""Networks among the rivals: each after one look, as a policy that is asked again, and probing where it is not sure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from poolpilot.agent.training.validation import GreedyPolicy
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.artefact import Artefact, load
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.baselines import Unguarded

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
    def in_folder(cls, folder: Path | None) -> Self:
        """Loads all that `make bench NAME=networks` has left in a folder; none where there is no folder."""
        folders = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
        return cls({each.name: load(each) for each in folders})

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
            found |= {name: guarded, f"{name}_unguarded": Unguarded(guarded)}
        return found

    def tried(self) -> dict[str, Predictor]:
        """Every network as a policy, and probing by its upper confidence bound."""
        found: dict[str, Predictor] = {}
        for name, artefact in self.artefacts.items():
            found |= {
                f"{name}_policy": PolicySeer(artefact),
                f"{name}_probing": ScorePredictor.for_trials(artefact),
            }
        return found


class PolicySeer:
    """A policy that is shown what its network was.

    Args:
        artefact: The network.
    """

    def __init__(self, artefact: Artefact) -> None:
        self._policy = GreedyPolicy(artefact.weights, artefact.card.grid)
        self._hidden = artefact.card.hidden_features

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        return self._policy.predict([window.hiding(self._hidden) for window in windows], limits, objective)
