"""Whether advice leaves a quiet server alone, and whether whoever follows it arrives: from fifty posted configurations.

    python benchmarks/advice_walks.py --place simulated --draws 200 --json benchmarks/reports/advice_walks.json
    python benchmarks/advice_walks.py --place lab --draws 40 --json benchmarks/reports/advice_walks_lab.json

A draw is a workload of a share of what the default can give, or of all it can, of families that nothing learned from
(on the lab, of those of light load that there are). It is looked at under the default, and under one of the posted
configurations in turn; what is advised is set, and looked at again, with what was seen on the way, as `poolpilot
advise` does it. A walk is over where nothing more is advised. It should take two steps at most and never come back to
what it has left; where up to a fifth is asked for, the default should be left alone. On the lab a look takes three
seconds and a draw half a minute.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.table import Table

from code_digest import made_with
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.light_families import LIGHT_CHOOSING_FAMILIES
from poolpilot.env.workloads.simulated_families import CHOOSING_FAMILY, draw_scenario
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.light_sql_families import LIGHT
from poolpilot.lab.sysbench_families import FAMILIES as SQL_FAMILIES
from poolpilot.lab.sysbench_families import draw_workload as draw_sql
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.pipelines.progress_bars import progress_bars
from posted_tuples import POSTED

MOST_LOOKS = 6
LOOK_S = 3.0
SEED = 48
FULL_EVERY = 5
"""One draw in so many is of full load; the others are of light and half."""

MOST_LIGHT = 0.2
"""Share of what can be given up to which nothing is to be gained."""


@dataclass(frozen=True)
class Walk:
    """What following the advice did.

    Attributes:
        workload: What was sent.
        share: Share of what the default can give that is asked for; 1 where all is.
        path: What was in force, one after the other.
        verdict: What was said last.
    """

    workload: str
    share: float
    path: tuple[Core, ...]
    verdict: str

    @property
    def steps(self) -> int:
        """Changes that were advised."""
        return len(self.path) - 1

    @property
    def is_light(self) -> bool:
        """Whether so little is asked for that nothing is to be gained."""
        return self.share <= MOST_LIGHT

    @property
    def comes_back(self) -> bool:
        """Whether something was in force twice."""
        return len(set(self.path)) < len(self.path)


def walked(server: SimulatedServer | LabServer, start: Core, seconds: float) -> tuple[tuple[Core, ...], str]:
    """Follows the advice from a configuration on: what was in force, one after the other, and what was said last."""
    advisor = Advisor.load(None, "mariadb" if isinstance(server, LabServer) else "simulated")
    server.apply(server.tuple_in_force().with_core(start))
    seen: list[Window] = []
    while True:
        server.run_for(seconds / 3.0)
        window = observe(server, seconds).window
        seen.append(window.without_classes() if window.server_kind == "mariadb" else window)
        told = advisor.predict(seen, server.knobs, Objective())
        if told.verdict != "change" or len(seen) == MOST_LOOKS:
            return tuple(each.pool_tuple.core for each in seen), told.verdict
        server.apply(told.pool_tuple)


def walks_on(
    server: SimulatedServer | LabServer, workload: str, share: float, posted: Core, seconds: float
) -> Iterator[Walk]:
    """The walk from the default on, and that from a posted configuration."""
    for start in (server.knobs.default_tuple().core, posted):
        yield Walk(workload, share, *walked(server, start, seconds))


def simulated(number: int) -> Iterator[Walk]:
    """Walks on a simulated server of any size."""
    light = [each for each in LIGHT_CHOOSING_FAMILIES.values() if each.load is not None and each.load.of_default]
    family = CHOOSING_FAMILY if number % FULL_EVERY == 0 else light[number % len(light)]
    scenario = draw_scenario(family, SEED, number)
    seconds = max(LOOK_S / 3.0, scenario.cycle_s)
    with scenario.open() as server:
        share = 1.0 if family.load is None else family.load.share
        yield from walks_on(server, scenario.workload.name, share, POSTED[number % len(POSTED)], seconds)


def on_the_lab(number: int, folder: Path) -> Iterator[Walk]:
    """Walks on a private MariaDB."""
    held_out = [one for one in SQL_FAMILIES.values() if one.split != "train"]
    among = held_out if number % FULL_EVERY == 0 else LIGHT
    workload = draw_sql(among[number % len(among)], SEED, number)
    share = sum(each.capacity_share for each in workload.classes) or 1.0
    with LabServer(workload, LabPlace(folder=folder)) as server:
        yield from walks_on(server, workload.name, share, POSTED[number % len(POSTED)], LOOK_S)


def rows_of(walks: Sequence[Walk]) -> list[dict[str, float]]:
    """A row for each share that is asked for; the first walk of a draw is that from the default on."""
    rows = []
    for share in sorted({each.share for each in walks}):
        of_share = [each for each in walks if each.share == share]
        rows.append(
            {
                "share": share,
                "draws": len(of_share[::2]),
                "left_alone": sum(each.verdict == "leave it" and not each.steps for each in of_share[::2]),
                "walks": len(of_share),
                "most_steps": max(each.steps for each in of_share),
                "more_than_two": sum(each.steps > 2 for each in of_share),
                "come_back": sum(each.comes_back for each in of_share),
            }
        )
    return rows


def notable(walks: Sequence[Walk]) -> list[Walk]:
    """Walks that are too long or come back, and those that do not leave the default alone under light load."""
    moved = [each for each in walks[::2] if each.is_light and (each.steps or each.verdict != "leave it")]
    return [*moved, *(each for each in walks if each.steps > 2 or each.comes_back)]


def table_of(walks: Sequence[Walk]) -> Table:
    """The rows as people read them."""
    table = Table("asked for", "draws", "default left alone", "walks", "steps at most", "more than two", "come back")
    for row in rows_of(walks):
        share, *numbers = row.values()
        table.add_row(f"{share:.0%}", *map(str, numbers))
    return table


def main() -> None:
    """Walks, prints the table, and writes it with the walks that are not as they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", choices=("simulated", "lab"), default="simulated")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=Path("build/bench/lab"), help="where the lab's servers lie")
    parser.add_argument("--json", type=Path, help="write the report here")
    given = parser.parse_args()
    walks: list[Walk] = []
    walks_of = simulated if given.place == "simulated" else partial(on_the_lab, folder=given.folder)
    with progress_bars(terminal()) as bars:
        for number in bars.each("draws", range(given.draws), str):
            walks += walks_of(number)
            named = [asdict(each) for each in notable(walks)]
            write_json(given.json, {"made_with": made_with(), "rows": rows_of(walks), "notable": named})
    terminal().print(table_of(walks))


if __name__ == "__main__":
    main()
