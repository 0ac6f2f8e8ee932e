"""Gaps of an offered rate run within bursts alone: none is cut short, and nothing piles up at a burst's begin."""

import shutil
import subprocess
from pathlib import Path

import pytest

from poolpilot.lab.sysbench_load import SCRIPTS

EVALUATED = """
local within, after = require("bursts").of({period}, {share}, {offset})
function event()
   print("= " .. {expression})
end
"""


@pytest.fixture
def evaluated(tmp_path: Path) -> "Evaluated":
    if shutil.which("sysbench") is None:
        pytest.skip("WITHOUT SYSBENCH ITS SCRIPTS ARE NOT TESTED")
    return Evaluated(tmp_path / "evaluated.lua")


class Evaluated:
    """Evaluates an expression of bursts in sysbench's own Lua; no server is asked for."""

    def __init__(self, script: Path) -> None:
        self.script = script

    def __call__(self, expression: str, period: float = 1000.0, share: float = 0.3, offset: float = 0.0) -> float:
        text = EVALUATED.format(period=period, share=share, offset=offset, expression=expression)
        self.script.write_text(text, encoding="utf-8")
        command = ["sysbench", str(self.script), "--events=1", "--time=0", "--threads=1", "--verbosity=0", "run"]
        done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=True)
        return float(done.stdout.partition("= ")[2].split()[0])


@pytest.mark.parametrize(
    ("us", "gap_us", "due_us"),
    [
        (0.0, 100.0, 100.0),
        (100.0, 150.0, 250.0),
        (200.0, 150.0, 1050.0),  # 100 before the end of this burst, 50 after the begin of the next
        (200.0, 950.0, 3250.0),  # over three ends
        (600.0, 10.0, 1010.0),  # from within the rest as from the next begin
        (5000.0, 299.0, 5299.0),
    ],
)
def test_gap_that_meets_the_end_of_a_burst_goes_on_in_the_next(
    evaluated: Evaluated, us: float, gap_us: float, due_us: float
) -> None:
    assert evaluated(f"after({us}, {gap_us})") == pytest.approx(due_us)
    assert evaluated(f"after({us} + 250, {gap_us})", offset=0.25) == pytest.approx(due_us + 250.0)


def test_load_that_is_even_or_all_burst_goes_by_gaps_alone(evaluated: Evaluated) -> None:
    assert evaluated("after(620, 5000)", period=0.0) == 5620.0
    assert evaluated("after(620, 5000)", share=1.0) == pytest.approx(5620.0)
    assert evaluated("within(620)", period=0.0) == 620.0


def test_moment_between_bursts_is_put_to_the_next_one(evaluated: Evaluated) -> None:
    assert [evaluated(f"within({us})") for us in (299, 301, 1000)] == [299.0, 1000.0, 1000.0]
