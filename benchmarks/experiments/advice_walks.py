"""Whether advice leaves a quiet server alone, and whether whoever follows it arrives: from fifty posted configurations.

A draw is a simulated workload of a share of what the default can give, or of all it can, of families that nothing
learned from. It is looked at under the default, and under one of the posted configurations in turn; what is advised is
set, and looked at again, with what was seen on the way, as `poolpilot advise` does it. A walk is over where nothing
more is advised. It should take two steps at most and never come back to what it has left; where up to a fifth is asked
for, the default should be left alone.
"""

from collections.abc import Sequence
from typing import Any

from experiments.posted_tuples import POSTED
from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.light_families import LIGHT_CHOOSING_FAMILIES
from poolpilot.env.workloads.simulated_families import CHOOSING_FAMILY, draw_scenario
from poolpilot.featurizer.window import Window
from poolpilot.models.advisor.advisor import Advisor

DRAWS, SEED = 400, 48
MOST_LOOKS, LOOK_S = 6, 3.0
FULL_EVERY = 5
"""One draw in so many is of full load; the others are of light and half."""

LEFT_ALONE = "leave it"


def measured(task: Task) -> Found:
    """The walk from the default on, and that from a posted configuration."""
    light = [each for each in LIGHT_CHOOSING_FAMILIES.values() if each.load is not None and each.load.of_default]
    family = CHOOSING_FAMILY if task.seed % FULL_EVERY == 0 else light[task.seed % len(light)]
    scenario = draw_scenario(family, SEED, task.seed)
    seconds = max(LOOK_S / 3.0, scenario.cycle_s)
    with scenario.open() as server:
        starts = (server.knobs.default_tuple().core, POSTED[task.seed % len(POSTED)])
        walks = [walked(server, start, seconds) for start in starts]
    share = 1.0 if family.load is None else family.load.share
    return {"workload": scenario.workload.name, "share": share, "walks": walks}


def walked(server: SimulatedServer, start: Core, seconds: float) -> dict[str, Any]:
    """Follows the advice from a configuration on: what was in force, one after the other, and what was said last."""
    advisor = Advisor.load(None, "simulated")
    server.apply(server.tuple_in_force().with_core(start))
    seen: list[Window] = []
    while True:
        server.run_for(seconds / 3.0)
        seen.append(observe(server, seconds).window)
        told = advisor.predict(seen, server.knobs, Objective())
        if told.verdict != "change" or len(seen) == MOST_LOOKS:
            return {"path": [list(each.pool_tuple.core) for each in seen], "verdict": told.verdict}
        server.apply(told.pool_tuple)


def summarise(rows: Rows) -> dict[str, Any]:
    """A row for each share that is asked for."""
    draws = [row.found for row in rows]
    shares = sorted({draw["share"] for draw in draws})
    return {"made_with": made_with(), "rows": [row_of(share, draws) for share in shares]}


def row_of(share: float, draws: Sequence[Found]) -> dict[str, float]:
    """How often the default was left alone, how far the walks led, and how many came back to what they had left."""
    of_share = [draw["walks"] for draw in draws if draw["share"] == share]
    walks = [walk["path"] for pair in of_share for walk in pair]
    return {
        "share": share,
        "draws": len(of_share),
        "left_alone": sum(first["verdict"] == LEFT_ALONE and len(first["path"]) == 1 for first, _ in of_share),
        "walks": len(walks),
        "most_steps": max(len(path) - 1 for path in walks),
        "come_back": sum(len(set(map(tuple, path))) < len(path) for path in walks),
    }


EXPERIMENTS = {
    "advice_walks": Experiment(
        "Does advice leave a quiet server alone, and does who follows it arrive? Minutes.",
        scenarios=("simulated",),
        measure=measured,
        summarise=summarise,
        seeds=range(DRAWS),
        together=True,
        under=made_with,
    )
}
