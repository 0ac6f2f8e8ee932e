"""What the tuner decides: the tuple of the next window, and why."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from poolpilot.featurizer.pool_tuple import PoolTuple


class State(StrEnum):
    """Where the tuner stands."""

    WATCH = "watch"
    TRY = "try"
    VERIFY = "verify"
    HOLD = "hold"
    ROLL_BACK = "roll back"
    COOL_DOWN = "cool down"
    STAND_DOWN = "stand down"
    OPEN_CIRCUIT = "open circuit"


class Mode(StrEnum):
    """What the tuner may do."""

    OBSERVE = "observe"
    ADVISE = "advise"
    APPLY = "apply"


class Decision(BaseModel):
    """What is to be done until the next look.

    Attributes:
        state: Where the tuner stands.
        pool_tuple: The tuple to have in force; None leaves the server alone.
        verified: The tuple that comes back should the tuner end now.
        reason: Why, as a sentence.
        routine: Whether every window repeats the reason with other numbers, so that it is no news; logs that told it of
            nothing are read as if all were news.
        ask: Whether the next look shall bring a proposal.
        would: The tuple that would be tried were it allowed; None where there is none.
        workload: Number of the workload: windows of an earlier one say nothing about this one.
        most_lost: Requests that what was just decided can cost at most, by the throughput before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: State
    pool_tuple: PoolTuple | None
    verified: PoolTuple
    reason: str
    routine: bool = False
    ask: bool = False
    would: PoolTuple | None = None
    workload: int = 0
    most_lost: float = 0.0
