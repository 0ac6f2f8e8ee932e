"""Where a tuner is shown to stand: a connection that is lost in mid-try is no roll-back."""

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.page.tuner_status import TunerStatus
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation

REACHED = Observation(at_s=0.0, unix_s=0.0, in_force=PoolTuple(2, 3, 500))
GONE = REACHED.model_copy(update={"in_force": None})


def shown(*steps: tuple[Observation, State]) -> list[tuple[str, bool]]:
    """What is shown after each decision, and whether it is entered with it."""
    told: list[tuple[str, bool]] = []
    before: TunerStatus | None = None
    for observation, state in steps:
        stands = TunerStatus.of(observation, state, before)
        told.append((str(stands), stands.is_entered_from(before)))
        before = stands
    return told


def test_try_that_a_lost_connection_ends_is_one_state_until_it_is_taken_away() -> None:
    steps = (
        *((REACHED, State.TRIAL), (GONE, State.WATCH), (GONE, State.WATCH)),
        *((REACHED, State.ROLL_BACK), (REACHED, State.COOL_DOWN)),
    )
    assert shown(*steps) == [
        *(("trial", True), ("connection lost", True), ("connection lost", False)),
        *(("connection lost", False), ("cool down", True)),
    ]


def test_roll_back_is_one_whether_the_connection_is_lost_on_the_way_or_not() -> None:
    steps = ((REACHED, State.TRIAL), (REACHED, State.ROLL_BACK), (GONE, State.ROLL_BACK), (REACHED, State.COOL_DOWN))
    assert [words for words, _ in shown(*steps)] == ["trial", "roll back", "roll back", "cool down"]


def test_first_decision_of_a_tuner_enters_its_state() -> None:
    assert shown((GONE, State.WATCH)) == [("watch", True)]
