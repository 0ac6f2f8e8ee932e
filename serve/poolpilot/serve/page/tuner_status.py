"""What a tuner is doing, as it is shown: a trial that a lost connection has ended is told apart from a roll-back."""

from dataclasses import dataclass
from typing import Self

from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation

LOST = "connection lost"
"""What is shown while a lost connection ends a trial."""

IN_TRIAL = (State.TRIAL, State.VERIFY)
"""States in which a trial goes on."""


@dataclass(frozen=True, slots=True)
class TunerStatus:
    """What is shown of the state of a tuner.

    Attributes:
        state: What the tuner is doing.
        lost_trial: Whether a lost connection has ended a trial: while nothing is reached, and until the incumbent is
            back, which the tuner calls a roll-back, though nobody has found the trial worse.
    """

    state: State
    lost_trial: bool = False

    @classmethod
    def of(cls, observation: Observation, state: State, before: "TunerStatus | None") -> Self:
        """After a decision.

        Args:
            observation: What it was made by.
            state: What the tuner is doing after it.
            before: The same after the decision before; None for the first one of a tuner.
        """
        return cls(state, before is not None and _is_of_lost_trial(observation, state, before))

    def is_entered_from(self, before: "TunerStatus | None") -> bool:
        """Whether another state is shown than before; of a trial that was lost it is that one, whatever the state."""
        return before is None or (self != before and not (self.lost_trial and before.lost_trial))

    def __str__(self) -> str:
        return LOST if self.lost_trial else str(self.state)


def _is_of_lost_trial(observation: Observation, state: State, before: TunerStatus) -> bool:
    if observation.in_force is None:
        return before.lost_trial or before.state in IN_TRIAL
    return before.lost_trial and state is State.ROLL_BACK
