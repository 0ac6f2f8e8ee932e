"""Days in fast motion: the tuner beside the default and the best constant.

Simulated servers of 1 to 4 processors under three workloads that take turns and drift. The reference of a phase is the
best configuration of the machine grid, measured alone. *Completed* is what a method completed on a day over what the
untouched default did. A bin of 30 s is *unsafe* where it completes less than 95 % of what the default completes in that
phase on average, less three standard deviations of the default's own bins, and *slow* where its latency, the 95th
percentile as the tuner sees it, is above 1.2 times the default's and that beyond three deviations.
"""

from typing import Any

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from tuner_days.day_report import row_of, summary
from tuner_days.day_server import Day
from tuner_days.lives import LIVES, REFERENCE_S, DayResult, best_per_s

HOURS, QUICK_HOURS = 2.0, 0.1
SEEDS = range(40, 52)
"""Days before these were looked at when the rules were made."""

DEFAULT, REFERENCE = "default", "reference"


def measured(task: Task) -> Found:
    """What a method made of a day, or the greatest throughput of each of its workloads."""
    day = day_of(task)
    if task.arm == REFERENCE:
        return {"best": [best_per_s(each, 0.5 if task.quick else REFERENCE_S) for each in day.workloads]}
    return vars(LIVES[task.arm](day))


def day_of(task: Task) -> Day:
    """The day of a seed."""
    return Day.draw(task.seed, QUICK_HOURS if task.quick else HOURS)


def summarise(rows: Rows) -> dict[str, Any]:
    """The means of each method over days, beside the default of the same day."""
    found = {(row.task.seed, row.task.arm): row for row in rows}
    of_method: dict[str, list[dict[str, float]]] = {name: [] for name in LIVES if name != DEFAULT}
    for seed in dict.fromkeys(row.task.seed for row in rows):
        best = found[seed, REFERENCE]
        day, untouched = day_of(best.task), DayResult(**found[seed, DEFAULT].found)
        for name, days in of_method.items():
            days.append(row_of(day, best.found["best"], untouched, DayResult(**found[seed, name].found)))
    methods = {name: summary(days) for name, days in of_method.items()}
    return {"made_with": made_with(), "hours": HOURS, "methods": methods}


EXPERIMENTS = {
    "tuner_days": Experiment(
        "What does the tuner make of days whose load shifts? Minutes a day.",
        scenarios=("two hours",),
        measure=measured,
        summarise=summarise,
        arms=(*LIVES, REFERENCE),
        seeds=SEEDS,
        together=True,
        under=made_with,
    )
}
