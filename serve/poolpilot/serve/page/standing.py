"""Where a tuner stands, as it is shown: a try that a lost connection has ended is told apart from a roll-back."""

from dataclasses import dataclass
from typing import Self

from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.look import Look

LOST = "connection lost"
"""What is shown while a lost connection ends a try."""

TRYING = (State.TRY, State.VERIFY)
"""States in which a try goes on."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is shown of the state of a tuner.

    Attributes:
        state: Where the tuner stands.
        lost_try: Whether a lost connection has ended a try: while nothing is reached, and until what is verified is
            back, which the tuner calls a roll-back, though nobody has found the try worse.
    """

    state: State
    lost_try: bool = False

    @classmethod
    def of(cls, look: Look, state: State, before: "Standing | None") -> Self:
        """After a decision.

        Args:
            look: What it was made by.
            state: Where the tuner stands after it.
            before: The same after the decision before; None for the first one of a tuner.
        """
        return cls(state, before is not None and _is_of_lost_try(look, state, before))

    def is_entered_from(self, before: "Standing | None") -> bool:
        """Whether another state is shown than before; of a try that was lost it is that one, whatever the state."""
        return before is None or (self != before and not (self.lost_try and before.lost_try))

    def __str__(self) -> str:
        return LOST if self.lost_try else str(self.state)


def _is_of_lost_try(look: Look, state: State, before: Standing) -> bool:
    if look.in_force is None:
        return before.lost_try or before.state in TRYING
    return before.lost_try and state is State.ROLL_BACK
