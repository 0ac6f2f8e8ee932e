"""The picture of README.md and its figures: a MariaDB under load, never touched and with PoolPilot.

Both arms have the same load, short range selects beside long joins, each on a server started afresh on the lab's data.
With PoolPilot a tuner starts after `STARTS_S`, in the pace of `poolpilot demo --production`. After `PLANTED_S` a second
tuner takes over, whose predictor is told to name one bad configuration.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task
from page_tables.picture_table import ARMS, PLANTED_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen, watched
from poolpilot.pipelines.demo.production.shifting_load import BESIDE_JOINS, LoadedLab
from poolpilot.serve.commands.production.production_demo import BAD, FARTHEST
from poolpilot.serve.commands.production.production_settings import DemoGuard, DemoPace
from poolpilot.serve.commands.production.tuner_child import TunerChild, flags_of
from poolpilot.serve.tuner.decision_log import NAME, read_log

SHOWN_CLASS = BESIDE_JOINS.classes[0].name
RUN_UP_S, WATCHED_S, WINDOW_S = 12.0, 60.0, 1.0
STARTS_S = 5.0

CPUS = 2
LAB, PICTURE = Path("lab/small"), Path("docs/images/mariadb_tuned.png")
SETTLE_S = 0.3
PACE = (
    f"--window={WINDOW_S:g}",
    f"--set=settle={SETTLE_S:g}",
    *flags_of("guard", DemoGuard()),
    *flags_of("pace", DemoPace()),
)


def measured(task: Task) -> Found:
    """What clients see of one arm, and what was in force when."""
    place = LoadedLab(Lab(LAB), CPUS)
    if task.arm == "default":
        return {"series": _series(_arm(place, lambda _: None)[0]), "in_force": []}
    with tempfile.TemporaryDirectory() as folder:
        with closing(_Tuners(place, Path(folder))) as tuners:
            tuned, began_unix_s = _arm(place, lambda passed_s: _act(passed_s, tuners))
        changes = [change for name in ("first", "planted") for change in _changes(Path(folder) / name, began_unix_s)]
    return {"series": _series(tuned), "in_force": changes}


def summarise(rows: Rows) -> dict[str, Any]:
    """Both arms and what was in force when."""
    found = {row.task.arm: row.found for row in rows}
    series = {arm: each["series"] for arm, each in found.items()}
    return {**series, "in_force": found["poolpilot"]["in_force"], "bad": BAD}


def _arm(place: LoadedLab, at: Callable[[float], None]) -> tuple[PhaseSeen, float]:
    """What clients see on a server started afresh; `at` is told the seconds passed before each window."""
    with place.restarted(), place.sending(BESIDE_JOINS) as load:
        time.sleep(RUN_UP_S)
        began_s, began_unix_s = time.monotonic(), time.time()
        at(0.0)
        seen = watched(load, WATCHED_S, WINDOW_S, lambda _: at(time.monotonic() - began_s))
    return seen, began_unix_s


class _Tuners:
    """The tuner that decides for itself, then the one that is told a bad configuration; one at a time."""

    def __init__(self, place: LoadedLab, folder: Path) -> None:
        self.begun: list[str] = []
        self._place, self._folder = place, folder
        self._child: TunerChild | None = None

    def begin(self, name: str, *flags: str) -> None:
        """Ends the one that runs and starts another, in the main thread: a child ends with the thread it came from."""
        self.close()
        self.begun.append(name)
        options = ("--mode", "apply", "--log", str(self._folder / name), *PACE, *flags)
        self._child = TunerChild(self._place.lab.defaults_file, self._folder / "journals", options, print)

    def close(self) -> None:
        """Ends what runs; what it has verified stays in force."""
        if self._child is not None:
            self._child.end()


def _act(passed_s: float, tuners: _Tuners) -> None:
    if passed_s >= STARTS_S and not tuners.begun:
        tuners.begin("first")
    elif passed_s >= PLANTED_S and tuners.begun == ["first"]:
        tuners.begin("planted", "--propose", BAD, FARTHEST)


def _changes(log: Path, began_unix_s: float) -> list[dict[str, Any]]:
    """What was in force from which second on, as the decisions of a tuner tell."""
    changes: list[dict[str, Any]] = []
    for line in read_log(log / NAME):
        in_force = line.observation.in_force
        if in_force is not None and (not changes or changes[-1]["tuple"] != list(in_force.core)):
            changes.append(
                {"at_s": line.observation.unix_s - began_unix_s - WINDOW_S - SETTLE_S, "tuple": list(in_force.core)}
            )
    return changes


def _series(seen: PhaseSeen) -> dict[str, list[float]]:
    """Requests a second and p99 in milliseconds of the short requests, window by window."""
    of_class = [window[SHOWN_CLASS] for window in seen.windows]
    return {
        "seconds": list(seen.seconds),
        "per_s": [each.count / seconds for each, seconds in zip(of_class, seen.seconds, strict=True)],
        "p99_ms": [each.quantile(0.99) / 1e3 for each in of_class],
    }


def draw(report: dict[str, Any]) -> None:
    """Writes the PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    rate, tail = figure.subplots(2, 1, sharex=True)
    for arm, colour in (("default", "tab:gray"), ("poolpilot", "tab:blue")):
        series = report[arm]
        edges = [sum(series["seconds"][:number]) for number in range(len(series["seconds"]) + 1)]
        rate.stairs(series["per_s"], edges, color=colour, label=ARMS[arm], baseline=None)
        tail.stairs(series["p99_ms"], edges, color=colour, baseline=None)
    rate.set(ylabel="short requests a second", ylim=(0, None))
    tail.set(xlabel="seconds", ylabel="their p99 (ms)", yscale="log", ylim=(1, 1000), xlim=(0, WATCHED_S))
    tail.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    for axis in (rate, tail):
        _mark(report, axis)
    figure.suptitle("MariaDB 10.11: 60 clients with short selects beside 4 with long joins", fontsize="medium")
    rate.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize="small", frameon=False)
    figure.savefig(PICTURE, dpi=120)


def _mark(report: dict[str, Any], axis: Any) -> None:
    """Shows when the tuner started, what it ended on, and while which windows the bad configuration was in force."""
    axis.axvline(STARTS_S, color="tab:blue", linestyle=":", linewidth=1.0, label="tuner starts")
    changes = report["in_force"]
    ends = [*(change["at_s"] for change in changes[1:]), WATCHED_S]
    bad = int(report["bad"].partition(",")[0])
    for change, end_s in zip(changes, ends, strict=True):
        if change["at_s"] > PLANTED_S and change["tuple"][0] == bad:
            said = f"planted {PoolTuple(*change['tuple'])}, rolled back"
            axis.axvspan(change["at_s"], end_s, color="tab:red", alpha=0.25, linewidth=0, label=said)


EXPERIMENTS = {
    "mariadb_picture": Experiment(
        "What does a person see of PoolPilot on a MariaDB under load? Three minutes.",
        scenarios=("joins beside",),
        measure=measured,
        summarise=summarise,
        arms=tuple(ARMS),
        picture=draw,
    )
}
