"""The demonstration of production: its arms, one after the other on the same load that shifts, and its incidents."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.pipelines.demo.production.constant_arms import RUN_UP_S, best_of, in_turns, through_phases
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen
from poolpilot.pipelines.demo.production.production_report import arms_table
from poolpilot.pipelines.demo.production.shifting_load import BESIDE_JOINS, CANDIDATES, LOADS, PHASES, LoadedLab
from poolpilot.serve.commands.production.incidents import (
    ATTEMPTS,
    GivenBack,
    RolledBack,
    give_back_of,
    roll_back_of,
)
from poolpilot.serve.commands.production.kept_report import KeptReport
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings
from poolpilot.serve.commands.production.tuner_child import TunerChild, flags_of
from poolpilot.serve.page.page_server import PageServer

SAFE, BAD, NEXT = (16, 3, 10), "1,1,6000", "8,3,10"
"""The incumbent when the incidents begin, the prediction that is planted, and an ordinary step."""

FARTHEST = "--set=guard.factor=16"
"""The widest step that a guard may be given: with a narrower one the planted prediction would never be set."""

ENDLESS = (
    *("--set=pace.least_pairs=100", "--set=pace.most_pairs=200"),
    *("--set=guard.most_drop=0.9999", "--set=guard.most_latency_rise=1e6"),
)
"""A trial that goes on until somebody kills the tuner, whatever a busy machine does to a window of it."""

SHIFTS, PLANTED = "shifts", "planted"
KILLED = tuple(f"killed-{number}" for number in range(ATTEMPTS))
"""What the logs of the tuners are called."""


@dataclass
class ProductionDemo:
    """Runs the arms and the incidents one after the other.

    Attributes:
        settings: For how long.
        console: Where it is told.
        paths: Where the report is written.
        report: What is known so far.
    """

    settings: ProductionDemoSettings
    console: Console
    paths: Sequence[Path | None]
    report: KeptReport = field(init=False)

    def __post_init__(self) -> None:
        rolled_back = RolledBack(None, 0, None, "it was not planted")
        self.report = KeptReport(self.settings, self.paths, rolled_back, GivenBack(None, PoolTuple(*SAFE), None))

    @property
    def logs(self) -> Path:
        """Where the decisions are kept, one folder for each tuner."""
        return self.settings.output / "decisions"

    @property
    def tuner_logs(self) -> Sequence[Path]:
        """The folders in it that tuners of this demonstration write; whatever else lies there is somebody else's."""
        return [self.logs / name for name in (SHIFTS, PLANTED, *KILLED)]

    @contextmanager
    def page_shown(self) -> Iterator[None]:
        """The live page of all tuners of the demonstration.

        Raises:
            ServerError: Its port cannot be had.
        """
        server = PageServer(self.logs, self.settings.page, "--set page=PORT")
        self._say(f"The tuners' decisions are shown at {server.url} until this ends.")
        with server.running():
            yield

    def run(self) -> None:
        """Everything; the report is written after each arm and each incident.

        Raises:
            ServerError: Server, load or tuner has failed.
            SettingError: The report cannot be written.
        """
        place = LoadedLab(Lab(self.settings.lab), min(2, len(os.sched_getaffinity(0))))
        report = self.report
        self._introduce(place)
        report.arms["default"], report.default = self._default_arm(place)
        report.write()
        report.best, report.constants = self._chosen(place, report.default)
        report.arms["constant"] = self._constant_arm(place, report.best)
        report.write()
        tuned = self._tuned_arm(place)
        report.arms |= {"tuner": tuned, "settled": [phase.settled for phase in tuned]}
        report.write()
        self._tell_arms(report.default, report.best)
        self._incidents(place)
        report.finished = True
        report.write()

    def _tell_arms(self, default: PoolTuple, best: PoolTuple) -> None:
        self.console.print(arms_table(self.report.arms, PHASES))
        self._say(f"The default, never touched, is {default}, the best constant {best}; settled are the second halves.")

    def _introduce(self, place: LoadedLab) -> None:
        names = ", ".join(workload.name for workload in PHASES)
        self._say(
            f"A private MariaDB in {self.settings.lab} on {place.cpus} processors. The load shifts: {names}. The arms "
            "run one after the other on the same schedule, each on a server started afresh; the constants to choose "
            "from take turns under one load."
        )
        pace = " ".join(self._tuner_flags())
        self._say(f"The tuner's pace is that of a demonstration: {pace}")

    def _default_arm(self, place: LoadedLab) -> tuple[list[PhaseSeen], PoolTuple]:
        with place.restarted() as default:
            return self._through(place, f"never touched, {default}", self.settings.arm_s), default

    def _constant_arm(self, place: LoadedLab, best: PoolTuple) -> list[PhaseSeen]:
        with place.restarted(best.core):
            return self._through(place, f"the best constant, {best}", self.settings.arm_s)

    def _tuned_arm(self, place: LoadedLab) -> list[PhaseSeen]:
        with place.restarted(), self._tuner(place, SHIFTS, *self._tuner_flags()) as child:
            child.until_begun(self.settings.deadline_s)  # on a busy machine the load might end before
            return self._through(place, "a tuner that applies", self.settings.tuner_s, child)

    def _through(self, place: LoadedLab, arm: str, seconds: float, tuner: TunerChild | None = None) -> list[PhaseSeen]:
        def begins(phase: str) -> None:
            self._say(f"{arm}: {phase}, {seconds:g} s", bold=True)

        def passed(_per_s: float) -> None:
            if tuner is not None and not tuner.alive:
                raise ServerError("the tuner has ended before its load has: what it said is above")

        return through_phases(place, PHASES, seconds, self.settings.window_s, begins, passed)

    def _chosen(self, place: LoadedLab, default: PoolTuple) -> tuple[PoolTuple, list[dict[str, Any]]]:
        cores = list(dict.fromkeys((default.core, *CANDIDATES)))
        settings, by_phase = self.settings, []
        with place.restarted():
            for workload in LOADS:
                self._say(f"constants in turns: {workload.name}", bold=True)
                by_phase.append(in_turns(place, workload, cores, settings.turns, settings.turn_s, settings.settle_s))
        by_phase.append(by_phase[0])  # of the first load, which comes back
        rows = [{"tuple": list(core), "ln_per_s": [phase[core] for phase in by_phase]} for core in cores]
        return best_of(by_phase), rows

    def _incidents(self, place: LoadedLab) -> None:
        with place.restarted(SAFE) as incumbent, place.sending(BESIDE_JOINS):
            time.sleep(RUN_UP_S)
            self._planted(place, incumbent)
            self.report.write()
            for name in KILLED:
                self._killed(place, incumbent, name)
                self.report.write()
                if self.report.given_back.tried is not None:
                    break

    def _planted(self, place: LoadedLab, incumbent: PoolTuple) -> None:
        self._say(f"A bad prediction is planted under {incumbent}: the predictor says ({BAD}).", bold=True)
        flags = (*self._tuner_flags(), "--propose", BAD, FARTHEST)
        with self._tuner(place, PLANTED, *flags) as child:
            self.report.rolled_back = roll_back_of(self.logs / PLANTED, incumbent, child, self.settings.deadline_s)
        told = self.report.rolled_back
        self._say(f"{told.bad} was in force for {told.windows} windows; {told.back} is back. {told.reason}")

    def _killed(self, place: LoadedLab, incumbent: PoolTuple, name: str) -> None:
        self._say(f"A tuner is killed (SIGKILL) while it tries a step from {incumbent}; a keeper watches.", bold=True)
        flags = (*self._tuner_flags(), "--propose", NEXT, *ENDLESS)
        with self._child(place, "--keeper"), self._tuner(place, name, *flags) as child:
            self.report.given_back = give_back_of(place, incumbent, child, self.settings.deadline_s)
        if self.report.given_back.seconds is not None:
            told = self.report.given_back
            self._say(f"{told.tried} was in force when it died; {told.incumbent} was back {told.seconds:.1f} s later.")

    def _tuner(self, place: LoadedLab, name: str, *flags: str) -> TunerChild:
        return self._child(place, "--mode", "apply", "--log", str(self.logs / name), *flags)

    def _child(self, place: LoadedLab, *flags: str) -> TunerChild:
        journals = self.settings.output.absolute() / "journals"
        return TunerChild(place.lab.defaults_file, journals, flags, lambda line: self._say(f"  | {line}"))

    def _tuner_flags(self) -> Sequence[str]:
        settings = self.settings
        return (
            f"--window={settings.window_s:g}",
            f"--set=settle={settings.settle_s:g}",
            *flags_of("guard", settings.guard),
            *flags_of("pace", settings.pace),
        )

    def _say(self, line: str, *, bold: bool = False) -> None:
        self.console.print(Text(line, style="bold" if bold else ""), soft_wrap=True)
