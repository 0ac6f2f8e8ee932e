"""What a search has found: tables for people, a dictionary for programs."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from poolpilot.agent.search.observations import Goal, target_value
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.reasons import percent
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.serve.commands.search.knob_option import range_of
from poolpilot.serve.commands.search.search_run import SearchRun
from poolpilot.serve.commands.tuning.outcome import Row, outcome_row, outcome_table, step_as_dict

if TYPE_CHECKING:
    from poolpilot.agent.search.knob_ranking import RankedKnob


def outcome_rows(run: SearchRun) -> list[Row]:
    """The first tuple and the best one, as far as they were measured."""
    if run.before is None:
        return []
    rows = [_row(run, "first", [run.before.window])]
    best = run.best
    if run.again is not None:
        rows.append(_row(run, "found", [run.again.window]))
    elif best is not None and (seen := [one.measured.window for one in run.steps if one.pool_tuple == best]):
        rows.append(_row(run, "so far", seen))
    return rows


def search_table(run: SearchRun) -> Table:
    """The rows of `outcome_rows` as people read them."""
    goal, names = run.plan.settings.target, run.plan.space.names
    table = outcome_table(
        "Search",
        outcome_rows(run),
        run.target.goodput,
        in_words=lambda pool_tuple: tuple_in_words(pool_tuple, names),
        further={"mean latency ms" if goal == "latency" else "throughput 1/s": lambda row: _judged(row, goal)},
    )
    table.caption = "(pool size, oversubscribe, timer interval ms) and what else varies\nfound: measured again"
    return table


def verdict(run: SearchRun) -> str:
    """What the search has come to, in a sentence."""
    done = f"{run.controller.rounds_done} rounds, {len(run.controller.observations)} configurations measured"
    if run.best is None or run.before is None:
        return f"{done}: nothing was found."
    best = tuple_in_words(run.best, run.plan.space.names)
    if run.gain is None:
        return f"{done}, and not to the end; best so far: {best}, not measured again."
    if run.best == run.before.window.pool_tuple:
        return f"{done}; nothing was better than the first configuration, {best}, when it was measured again."
    return f"{done}; best: {best}, {_gain(run.gain, run.plan.settings.target)} against the first configuration."


def tuple_in_words(pool_tuple: PoolTuple, names: Sequence[str]) -> str:
    """A tuple with what varies beyond its core."""
    beyond = [name for name in names if name in ("create_thread_on_wait", "idle_timeout_s")]
    return ", ".join([f"{pool_tuple}", *(f"{name} {float(getattr(pool_tuple, name)):.4g}" for name in beyond)])


def measured_ranking(run: SearchRun) -> tuple["RankedKnob", ...]:
    """The knobs ranked by the stored workloads, else by what this search has measured; none under two tuples."""
    if run.plan.ranking:
        return run.plan.ranking
    space, measured = run.plan.space, run.controller.observations.eligible
    if len(measured) < 2:
        return ()
    from poolpilot.agent.search.knob_ranking import rank_knobs

    points = space.encode_all([one.pool_tuple for one in measured])
    return rank_knobs(points, np.array([one.value for one in measured]), space.names)


def ranking_source(run: SearchRun) -> str:
    """What the knobs are ranked by, in words."""
    if run.plan.ranking:
        return f"{len(run.plan.stored)} stored workloads"
    return f"the {len(run.controller.observations.eligible)} configurations of this search"


def ranking_table(run: SearchRun, ranking: Sequence["RankedKnob"]) -> Table:
    """The ranking as people read it."""
    table = Table("", "knob", "enters at", title=f"Knobs that matter, by {ranking_source(run)}")
    table.caption = "lasso: 1 is first, the later the less"
    for place, one in enumerate(ranking, 1):
        table.add_row(f"{place}", one.name, f"{one.penalty:.3f}" if one.penalty else "never")
    return table


def as_dict(run: SearchRun, ranking: Sequence["RankedKnob"]) -> dict[str, Any]:
    """Everything asked for, measured and concluded so far, fit for JSON."""
    best, settings = run.best, run.plan.settings
    before, again = (None if measured is None else measured.window for measured in (run.before, run.again))
    return {
        REQUEST: outcome_body(before, again, run.target.server.knobs, run.target.objective),
        **run.target.origin,
        "interrupted": run.interrupted,
        "finished": run.finished,
        "settings": settings.model_dump(mode="json"),
        "knobs": range_of(run.plan.space),
        "not_varied": dict(run.plan.left_out),
        "rounds_done": run.controller.rounds_done,
        "best": None if best is None else best.as_dict(),
        "gain": run.gain,
        "outcome": outcome_rows(run),
        "configurations": [
            {"pool_tuple": one.pool_tuple.as_dict(), "windows": one.count, "value": one.value, "feasible": one.feasible}
            for one in run.controller.observations.measured
        ],
        "steps": [step_as_dict(one) for one in run.steps],
        "ranking": {
            "by": ranking_source(run),
            "knobs": [{"name": one.name, "penalty": one.penalty, "weight": one.weight} for one in ranking],
        },
    }


def _judged(row: Row, target: Goal) -> str:
    if target == "latency":
        return f"{1e3 * math.exp(-row['value']):.3g}"
    return f"{row['throughput_per_s']:.0f}"


def _gain(gain: float, target: Goal) -> str:
    if target == "latency":
        return f"mean latency {percent(-gain)}"
    return f"{target} {percent(gain)}"


def _row(run: SearchRun, when: str, windows: Sequence[Window]) -> Row:
    values = [target_value(one, run.objective, run.plan.settings.target) for one in windows]
    return {**outcome_row(when, windows, run.objective), "value": fmean(values)}
