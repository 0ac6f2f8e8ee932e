"""`poolpilot learn`: from the machine at hand to a model of it; stops after any stage and goes on from there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from rich.console import Console

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.output import warn
from poolpilot.errors import ArtefactError, NotBroughtBackError, PoolPilotError, StoreError
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.learned_folder import LearnedModel
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings, calibrate
from poolpilot.pipelines.calibrate.fitted_machine import FittedMachine, FittedOn, machine_to_begin_with
from poolpilot.pipelines.collect.own_server import OwnServer
from poolpilot.pipelines.learn.host_scenarios import HostScenarios
from poolpilot.pipelines.learn.learn_settings import LearnSettings, Staged
from poolpilot.pipelines.learn.learned_files import EVALUATION_FILE, learned_files, renew_evaluation
from poolpilot.pipelines.learn.learning_gate import objections_to_learned
from poolpilot.pipelines.learn.learning_journal import LearningJournal
from poolpilot.pipelines.learn.learning_plan import LearningPlan
from poolpilot.pipelines.learn.live_collection import collect_live
from poolpilot.pipelines.learn.machine_check import MachineCheck
from poolpilot.pipelines.learn.own_records import OwnRecords, joined_curves
from poolpilot.pipelines.learn.replayed_regret import JudgedWorkload, as_rows, chosen, differences, judge
from poolpilot.pipelines.learn.run_tree import RunTree, alias_follows, log_learned
from poolpilot.pipelines.learn.simulated_collection import SimulatedCollection
from poolpilot.pipelines.production.model_shelf import ModelShelf
from poolpilot.pipelines.production.off_policy import off_policy_gain
from poolpilot.pipelines.production.outcome_store import OutcomeStore
from poolpilot.pipelines.production.production_outcome import ProductionOutcome
from poolpilot.pipelines.production.roll_back import roll_back_if_worse

SHIPPED = "what ships"
IN_FORCE = "what is in force"

LEAST_CALIBRATED = 4
"""Live workloads to learn from, from which on the simulator is calibrated to them."""

EVALUATION_S = 0.7
"""About what trying one machine takes in calibration, in seconds."""

MOST_EVALUATIONS = 250
"""Machines tried at most: the search has come to rest by then."""


@dataclass
class LearnReport:
    """What a run has done.

    Attributes:
        out: Folder of what was learned.
        taken_in: Outcomes that were new.
        production: What they say of the model in force, as a sentence; None where they say nothing.
        rounds: What each round has brought.
        digest: Digest of what was learned; None where nothing was.
        folder: Folder of it.
        not_brought_back: Why your own server does not have its first configuration back, and what is in force there;
            None where it has, or nothing was set.
        objections: Why the gate has refused it.
        promoted: Whether it is in force now.
        in_force: Digest of what is in force now.
    """

    out: Path
    taken_in: int = 0
    production: str | None = None
    rounds: list[dict[str, Any]] = field(default_factory=list)
    digest: str | None = None
    folder: Path | None = None
    not_brought_back: str | None = None
    objections: tuple[str, ...] = ()
    promoted: bool = False
    in_force: str | None = None


def learn(settings: LearnSettings, console: Console, outcomes: Iterable[ProductionOutcome] = ()) -> LearnReport:
    """Takes in outcomes, judges the model in force by them, and learns for so many minutes.

    Args:
        settings: For how long, on what, and where to.
        console: Where progress is shown.
        outcomes: What the service has kept.

    Raises:
        KeyboardInterrupt: The user ended it; the same command goes on.
        SettingError: There is too little space, a run of other settings was stopped in the folder, or options of a
            server of one's own lead nowhere.
        TakenFolderError: Another run is at work in the folder, or on its records.
        ArtefactError: A model is damaged, or cannot be written.
        ServerError: Too many workloads in a row could not be measured.
        StoreError: Records, journal or ledger cannot be read or written.
    """
    settings.check()
    out, records = settings.out, settings.record_folder
    within = records.resolve().is_relative_to(out.resolve())
    with locked_folder(out, "learns"), nullcontext() if within else locked_folder(records, "learns"):
        return _Learning(settings, console).run(outcomes)


class _Learning:
    """One call of the command."""

    def __init__(self, settings: LearnSettings, console: Console) -> None:
        self.settings = settings
        self.console = console
        self.records = OwnRecords(settings.record_folder)
        self.shelf = ModelShelf(settings.out)
        self.report = LearnReport(settings.out)
        self.base = load_curves()
        self.machine = CALIBRATED

    def run(self, outcomes: Iterable[ProductionOutcome]) -> LearnReport:
        if self._in_force() is None:
            self.shelf.put(self.base.digest, learned_files(self.base, {"source": "what ships"}))
            self.shelf.promote(self.base.digest)
        self._take_in(outcomes)
        if self.settings.minutes > 0.0:
            self._learn()
        in_force = self.shelf.in_force()
        if in_force is not None:
            self.report.in_force = in_force.curves.digest
            self._alias_follows(in_force.curves.digest)  # also what an earlier run could not move
        return self.report

    def _in_force(self) -> LearnedModel | None:
        """The model in force; None where there is none, or it cannot be read, which is told."""
        try:
            return self.shelf.in_force()
        except ArtefactError as error:
            warn([f"the model in force cannot be read, and what ships takes its place: {error}"], self.console)
            return None

    def _take_in(self, outcomes: Iterable[ProductionOutcome]) -> None:
        store = OutcomeStore(self.records.folder)
        self.report.taken_in = store.take_in(outcomes)
        found = roll_back_if_worse(self.shelf, store, self.settings.roll_back)
        if found is not None:
            self.report.production = found.in_words()
            self.console.print(found.in_words(), soft_wrap=True)
            if found.went_back_to is not None:
                self._alias_follows(found.went_back_to)

    def _alias_follows(self, digest: str) -> None:
        problem = alias_follows(self.settings, digest)
        warn([] if problem is None else [problem], self.console)

    def _learn(self) -> None:
        plan = LearningPlan.of(self.settings)
        self.journal = LearningJournal(self.settings.out, self.settings.decisive(), anew=self.settings.anew)
        self.tree = RunTree(self.settings, self.journal)
        if self.journal.resumed:
            self.console.print(f"Going on with the run that was stopped in {self.settings.out}.", soft_wrap=True)
        self.console.print(f"Learning for {self.settings.minutes:g} minutes: {plan.in_words()}.", soft_wrap=True)
        self._say_what_would_be_set()
        self._begin_with_machine()
        warn(self.records.check(), self.console)
        with self.tree.root():
            self._stage("check", partial(self._check, plan), {})
            for number in range(1, plan.rounds + 1):
                self._round(plan, number)
            # Margin, outcomes and what is in force may be others than when the run was stopped: judged in any case.
            self._ship(self._done("gate", self._gate, {"margin": self.settings.margin}))
            self.journal.close()

    def _begin_with_machine(self) -> None:
        """Takes the machine that an earlier run fitted to this host; a run that goes on keeps what it began with."""
        machine, said = machine_to_begin_with(self.settings.out, FittedOn.here(self.settings.cpus))
        begun = self.journal.noted("check", "machine", {"machine": machine.model_dump(), "said": said})
        self.machine = Machine.model_validate(begun["machine"])
        if begun["said"] is not None:
            self.console.print(begun["said"], soft_wrap=True)

    def _round(self, plan: LearningPlan, number: int) -> None:
        for server, seconds in plan.seconds.items():
            collected = partial(self._collect, server, f"{server} {number}", seconds)
            found = self._stage(f"{server} {number}", collected, {"seconds": seconds})
            if server == "own" and "reason" not in found:
                self.report.not_brought_back = found.get("not_brought_back")
            if server == "native":
                calibrated = partial(self._calibrate, plan.calibrating_s)
                found = self._stage(f"calibration {number}", calibrated, {"seconds": plan.calibrating_s})
                self.machine = Machine.model_validate(found["machine"])
        learned = cache(self._learned)  # the records of a round are read once, where both stages are still to do
        counted = self._stage(f"curves {number}", lambda: self._counted(learned()), {})
        row = self._stage(f"evaluation {number}", lambda: self._evaluate(learned()), {})
        self.report.rounds.append({"minutes": plan.minutes_after(number, self.settings), **counted, **row})
        for sentence in row["in_words"]:
            self.console.print(f"After {self.report.rounds[-1]['minutes']:g} minutes: {sentence}", soft_wrap=True)

    def _stage(self, name: str, work: Callable[[], dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a stage: that of the run that was stopped, or what comes of the work now."""
        known = self.journal.result(name)
        return self._done(name, work, parameters) if known is None else known

    def _done(self, name: str, work: Callable[[], dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
        """What comes of the work of a stage now."""
        with self.tree.child(name, parameters) as log, self.journal.timed(name):
            result = work()
            log(result)
        self.journal.finish(name, result)
        return result

    def _check(self, plan: LearningPlan) -> dict[str, Any]:
        given = self.settings
        check = MachineCheck.of(given.out, given.record_folder, given.cpus, mariadb="mariadb" in plan.seconds)
        warn(check.warnings, self.console)
        return check.as_dict()

    def _collect(self, server: Staged, stage: str, seconds: float) -> dict[str, Any]:
        left_s = seconds - self.journal.spent_s(stage)
        found: dict[str, Any] = {}
        if server == "simulated":
            scenarios = HostScenarios(self.settings.cpus, self.machine, self.settings.seed)
            collection = SimulatedCollection(self.records.store(server), scenarios, self.console)
            first = self.journal.noted(stage, "first", collection.collected())
            collection.run(first, max(left_s, 0.0), self.settings.workloads)
        elif server == "own":
            found = self._sweep_own(stage, seconds)
        else:
            given, lab, store = self.settings, self.settings.out / "lab", self.records.store(server)
            collect_live(server, store, left_s, given.seed, self.console, lab, given.cpus)
        return {**found, "coverage": [row for row in self.records.coverage() if row["server"] == server]}

    def _own_server(self, dsn: str) -> OwnServer:
        given = self.settings
        return OwnServer(dsn, given.defaults_file, given.procedure, given.named_cpus, self.records.store("own"))

    def _say_what_would_be_set(self) -> None:
        """What a sweep of the user's own server would do, where nobody has given leave for it."""
        if self.settings.dsn is None or self.settings.execute:
            return
        try:
            self.console.print(f"On your own server: {self._own_server(self.settings.dsn).would()}", soft_wrap=True)
        except PoolPilotError as error:
            warn([f"your own server is not measured: {error}"], self.console)

    def _sweep_own(self, stage: str, seconds: float) -> dict[str, Any]:
        """Sweeps the user's own server; what it refuses, or that it is gone, is its own affair: the run goes on."""
        assert self.settings.dsn is not None, "the plan has such a stage only with a DSN"
        own = self._own_server(self.settings.dsn)
        first = self.journal.noted(stage, "first", own.swept())
        try:
            own.sweep_for(seconds, own.swept() - first, self.settings.seed, self.console)
        except NotBroughtBackError as error:
            warn([f"your own server does not have its first configuration back: {error}"], self.console)
            return {"not_brought_back": str(error)}
        except StoreError:
            raise
        except PoolPilotError as error:
            warn([f"your own server is left out of this round: {error}"], self.console)
            return {"reason": str(error)}
        return {}

    def _calibration(self, seconds: float) -> CalibrateSettings:
        """What is fitted to; the search begins with what ships: kept back may be what an earlier one was fitted to."""
        return CalibrateSettings.of(
            {
                "store": self.records.store("native"),
                "splits": ("train",),  # the gate judges by the others
                "workloads": 6,
                "windows": 10,
                "judged_workloads": 24,
                "evaluations": min(max(round(seconds / EVALUATION_S), 10), MOST_EVALUATIONS),
                "seed": self.settings.seed,
            },
        )

    def _calibrate(self, seconds: float) -> dict[str, Any]:
        own = [row for row in self.records.coverage() if (row["server"], row["split"]) == ("native", "train")]
        swept = sum(row["workloads"] for row in own)
        if swept < LEAST_CALIBRATED:
            return self._uncalibrated(
                f"{swept} live workloads to learn from are complete and {LEAST_CALIBRATED} are needed"
            )
        try:
            found = calibrate(self._calibration(seconds), self.console)
        except PoolPilotError as error:
            return self._uncalibrated(str(error))
        if found.stopped:
            raise KeyboardInterrupt("calibration")
        before, after = found.judged_before.summary()["error_median"], found.judged.summary()["error_median"]
        if after > before:
            return self._uncalibrated(
                f"on workloads kept back it errs by {after:.1%}, the one that ships by {before:.1%}"
            )
        FittedMachine(machine=found.machine, fitted_on=FittedOn.here(self.settings.cpus)).keep(self.settings.out)
        return {"machine": found.machine.model_dump(), "error_median": after, "error_median_before": before}

    def _uncalibrated(self, reason: str) -> dict[str, Any]:
        self.console.print(f"The simulator's machine stays as it is: {reason}.", soft_wrap=True)
        return {"machine": self.machine.model_dump(), "reason": reason}

    def _learned(self) -> ResponseCurves:
        return joined_curves(self.base, self.records.curves(self.base.grid))

    def _counted(self, learned: ResponseCurves) -> dict[str, Any]:
        """How many curves are known by now, and of what: curves are read off the records, nothing is trained."""
        return {
            "curves": len(learned.curves),
            "own_curves": len(learned.curves) - len(self.base.curves),
            "coverage": self.records.coverage(),
            "digest": learned.digest,
        }

    def _evaluate(self, learned: ResponseCurves) -> dict[str, Any]:
        beside = self._compared(learned, self._held_out())
        return {
            "beside": [{"name": name, "differences": as_rows(found)} for name, found in beside],
            "in_words": [one.in_words() for one in beside[0][1]] or ["no held-out workload is complete yet"],
        }

    def _held_out(self) -> list[tuple[Staged, WorkloadSweep]]:
        """What is judged by."""
        return chosen(self.records.sweeps("validation"), self.settings.cpus)

    def _compared(self, learned: ResponseCurves, held_out: Sequence[Any]) -> list[tuple[str, list[Any]]]:
        """Differences to what ships, and to what is in force where that is something else."""
        judged = judge(learned, held_out)
        compared = [(SHIPPED, self._differences(judged, self.base, held_out))]
        in_force = self.shelf.in_force()
        if in_force is not None and in_force.curves.digest not in (self.base.digest, learned.digest):
            compared.append((IN_FORCE, self._differences(judged, in_force.curves, held_out)))
        return compared

    def _differences(
        self, judged: Sequence[JudgedWorkload], other: ResponseCurves, held_out: Sequence[Any]
    ) -> list[Any]:
        return differences(judged, judge(other, held_out))

    def _gate(self) -> dict[str, Any]:
        learned, held_out = self._learned(), self._held_out()
        beside = self._compared(learned, held_out)
        objections = objections_to_learned(beside, self.settings.margin, learned.digest, self.shelf.barred())
        objections = (*objections, *self._objections_of_production(learned))
        if learned.digest == self.base.digest:
            objections = (*objections, "nothing was learned: no workload to learn from is complete")
        evaluation = {
            "rounds": self.report.rounds,
            "beside": {name: as_rows(found) for name, found in beside},
            "objections": objections,
        }
        files = learned_files(learned, evaluation, self.machine)
        folder = self.shelf.put(learned.digest, files)
        if learned.digest != self.base.digest:  # what ships is not what was learned, and its folder says so
            renew_evaluation(folder, files[EVALUATION_FILE])
        return {"digest": learned.digest, "folder": str(folder), "objections": list(objections)}

    def _objections_of_production(self, learned: ResponseCurves) -> list[str]:
        """What outcomes say against what was learned, weighed by their propensities."""
        left_out = list[str]()
        outcomes = list(OutcomeStore(self.records.folder).read(left_out.append))
        gain = off_policy_gain(Advisor(Model.of(learned), Purpose.TRIAL), outcomes)
        warn([f"{len(left_out)} outcomes tell nothing: {left_out[0]}"] if left_out else [], self.console)
        if gain.unanswered:
            unanswered = f"{gain.unanswered} outcomes tell nothing: no known configuration is within their limits"
            warn([unanswered], self.console)
        objection = gain.objection(self.settings.roll_back.margin)
        return [] if objection is None else [objection]

    def _ship(self, gate: Mapping[str, Any]) -> None:
        """Puts what passed in force."""
        self.report.digest, self.report.folder = gate["digest"], Path(gate["folder"])
        self.report.objections = tuple(gate["objections"])
        log_learned(self.tree, self.report.folder, gate["digest"])
        if self.report.objections:
            self.shelf.refuse(gate["digest"], self.report.objections)
        elif self.settings.promote:
            self.shelf.promote(gate["digest"])
            self.report.promoted = True
