"""What the tuner decides: the tuple of the next window, and why."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from poolpilot.featurizer.pool_tuple import PoolTuple


class State(StrEnum):
    """What the tuner is doing."""

    WATCH = "watch"
    TRIAL = "trial"
    VERIFY = "verify"
    HOLD = "hold"
    ROLL_BACK = "roll back"
    COOL_DOWN = "cool down"
    STAND_DOWN = "stand down"
    OPEN_CIRCUIT = "open circuit"

    @classmethod
    def _missing_(cls, value: object) -> "State | None":
        """A state as logs of releases before 0.2.0 named it."""
        return cls.TRIAL if value == "try" else None


class Mode(StrEnum):
    """What the tuner may do."""

    OBSERVE = "observe"
    ADVISE = "advise"
    APPLY = "apply"


class Decision(BaseModel):
    """What is to be done until the next observation.

    Attributes:
        state: What the tuner is doing.
        pool_tuple: The tuple to have in force; None leaves the server alone.
        incumbent: The tuple that comes back should the tuner end now.
        reason: Why, as a sentence.
        routine: Whether every window repeats the reason with other numbers, so that it is no news; logs that told it of
            nothing are read as if all were news.
        ask: Whether the next observation shall bring a proposal.
        would: The tuple that would be tried were it allowed; None where there is none.
        workload: Number of the workload: windows of an earlier one say nothing about this one.
        most_lost: Requests that what was just decided can cost at most, by the throughput before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: State
    pool_tuple: PoolTuple | None
    incumbent: PoolTuple
    reason: str
    routine: bool = False
    ask: bool = False
    would: PoolTuple | None = None
    workload: int = 0
    most_lost: float = 0.0
