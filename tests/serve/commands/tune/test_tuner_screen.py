"""The last table of a tuner: what comes back is called verified where a trial has shown it, and by whom it is else."""

import pytest
from rich.console import Console

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen, summary, summary_table
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation, Reading
from poolpilot.serve.tuner.machine.memory import Memory

FIRST, OTHER = PoolTuple(2, 3, 500), PoolTuple(4, 3, 500)


@pytest.mark.parametrize(
    ("incumbent", "by_person", "by", "said"),
    [
        (OTHER, False, "tuner", "incumbent"),
        (OTHER, True, "tuner", "incumbent"),
        (FIRST, True, "person", "set by a person"),
        (FIRST, False, "nobody", "as found"),
    ],
)
def test_what_nobody_has_verified_is_not_called_so(incumbent: PoolTuple, by_person: bool, by: str, said: str) -> None:
    """Before, what a person had set was `verified` in the table."""
    console, memory = Console(width=100), Memory.begin(FIRST, 0.0).but(incumbent=incumbent)
    values = summary(FIRST, memory, TunerScreen(console), found_by_person=by_person)
    assert (values["incumbent"], values["incumbent_by"]) == (incumbent.as_dict(), by)
    with console.capture() as captured:
        console.print(summary_table(values))
    shown = [line.strip(" │|") for line in captured.get().splitlines() if str(incumbent) in line]
    assert shown[-1].startswith(said)


def test_summary_counts_what_the_try_in_progress_has_cost_and_windows_alone() -> None:
    """Before, looks at a server that was away counted as windows, and a trial that was ended midway as free."""
    readings = [Reading(goodput_per_s=rate, throughput_per_s=rate, seconds=5.0) for rate in (100.0, 300.0)]
    trial = PairedTrial(before=FIRST, candidate=OTHER, noise=0.01, befores=(readings[0],), candidates=(readings[1],))
    memory = Memory.begin(FIRST, 0.0).but(state=State.TRIAL, trial=trial, lost_requests=50.0)
    screen = TunerScreen(Console(quiet=True))
    decision = Decision(state=State.TRIAL, pool_tuple=None, incumbent=FIRST, reason="one window more")
    for reading in (readings[0], None, readings[1]):
        screen.add(Observation(at_s=0.0, unix_s=0.0, in_force=FIRST, reading=reading), decision)
    values = summary(FIRST, memory, screen)
    assert (values["windows"], values["lost_requests"]) == (2, pytest.approx(-950.0))
