"""The last table of a tuner: what comes back is called verified where a try has shown it, and by whom it is else."""

import pytest
from rich.console import Console

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen, summary, summary_table
from poolpilot.serve.tuner.machine.memory import Memory

FIRST, OTHER = PoolTuple(2, 3, 500), PoolTuple(4, 3, 500)


@pytest.mark.parametrize(
    ("verified", "by_person", "by", "said"),
    [
        (OTHER, False, "tuner", "verified"),
        (OTHER, True, "tuner", "verified"),
        (FIRST, True, "person", "in force, set by a person"),
        (FIRST, False, "nobody", "in force, as found"),
    ],
)
def test_what_nobody_has_verified_is_not_called_so(verified: PoolTuple, by_person: bool, by: str, said: str) -> None:
    """Before, what a person had set was `verified` in the table."""
    console, memory = Console(width=100), Memory.begin(FIRST, 0.0).but(verified=verified)
    values = summary(FIRST, memory, TunerScreen(console), found_by_person=by_person)
    assert (values["verified"], values["verified_by"]) == (verified.as_dict(), by)
    with console.capture() as captured:
        console.print(summary_table(values))
    shown = [line.strip(" │|") for line in captured.get().splitlines() if str(verified) in line]
    assert shown[-1].startswith(said)
