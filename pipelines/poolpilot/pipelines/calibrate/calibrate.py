"""Calibration: a machine fitted to the records of one part of the workloads, judged on those of the other."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from poolpilot.env.output import terminal, warn
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.errors import StoreError
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.calibrate.machine_file import read_machine
from poolpilot.pipelines.calibrate.measured_records import read_measured, rebuilt
from poolpilot.pipelines.calibrate.simulator_validation import MeasuredWorkload, Twin, TwinReport, simulate_twins
from poolpilot.pipelines.collect.collect_settings import NATIVE_STORE
from poolpilot.pipelines.progress_bars import new_progress
from poolpilot.pipelines.store.older_timer import OlderTimer
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck

FITTED: Mapping[str, tuple[float, float]] = {
    "overhead_us": (1.0, 500.0),
    "wake_us": (0.5, 500.0),
    "wake_cost_us": (0.1, 200.0),
    "create_us": (5.0, 1000.0),
    "piece_us": (0.1, 100.0),
    "timer_slack_us": (0.5, 1000.0),
    "client_us": (0.5, 200.0),
    "switch_us": (0.05, 100.0),
    "quantum_us": (200.0, 20_000.0),
    "cache_loss": (0.001, 2.0),
}
"""Fields of `Machine` that can be fitted, and their ranges."""


class CalibrateSettings(ProgramSettings):
    """Settings of `poolpilot learn calibrate`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_CALIBRATE_")

    store: Path = Field(default=NATIVE_STORE, description="Folder of the record store to fit to.")
    judged_store: Path | None = Field(
        default=None, description="Folder of other records to evaluate by; none keeps a share of the workloads back."
    )
    judged_share: float = Field(default=0.5, gt=0.0, lt=1.0, description="Share of the workloads kept back.")
    judged_workloads: int = Field(default=500, ge=1, description="Workloads to judge by at most, drawn at random.")
    splits: tuple[Literal["train", "validation", "test"], ...] = Field(
        default=("train", "validation"), min_length=1, description="Splits of the records that are read."
    )
    older_timer: OlderTimer = False
    start: Path | None = Field(default=None, description="JSON file of the machine to begin with.")
    output: Path = Field(default=Path("machine.json"), description="File that the fitted machine is written to.")
    fitted: tuple[str, ...] = Field(
        default=("overhead_us", "wake_us", "wake_cost_us", "piece_us", "timer_slack_us", "client_us", "quantum_us"),
        description="Parameters of the machine to fit; none only evaluates.",
    )
    machine_cpus: int = Field(
        default=len(os.sched_getaffinity(0)),
        ge=1,
        description="Processors that server and load generator had, those of this process if not given; a workload on "
        "all of them shares them with its load generator.",
    )
    workloads: int = Field(default=40, ge=1, description="Workloads to fit to at most.")
    windows: int = Field(default=28, ge=1, description="Windows of each to fit to at most; all are judged.")
    most_steal: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description="Windows in which the hypervisor took a larger share of the processors are gone through, but not "
        "compared.",
    )
    evaluations: int = Field(default=250, ge=1, description="Machines tried at most.")
    step: float = Field(default=0.35, gt=0.0, le=5.0, description="First step of the search, in natural logarithms.")
    seed: int = Field(default=0, ge=0, description="Seed of the choice of workloads.")
    tracking: Path | None = Field(default=None, description="Folder of a local MLflow store to log the run to.")

    @field_validator("fitted")
    @classmethod
    def _can_be_fitted(cls, fitted: tuple[str, ...]) -> tuple[str, ...]:
        unknown = sorted(set(fitted) - set(FITTED))
        if unknown:
            raise ValueError(f"{unknown[0]!r} cannot be fitted; these can: {', '.join(FITTED)}")
        return fitted


@dataclass(frozen=True)
class Calibration:
    """A fitted machine and how well it does.

    Attributes:
        start: The machine the search began with.
        machine: The machine it ended with.
        fitted_on: How the fitted machine does on the tuples it was fitted to.
        judged: How it does on workloads it was not fitted to.
        judged_before: How the machine at the start does on those.
        rebuilt: How the fitted machine does on those if each is rebuilt from one window under the default tuple, where
            that can be done.
        losses: Loss of every machine tried.
        stopped: Whether the user ended the search early.
    """

    start: Machine
    machine: Machine
    fitted_on: TwinReport
    judged: TwinReport
    judged_before: TwinReport
    rebuilt: TwinReport
    losses: Sequence[float] = field(default_factory=tuple)
    stopped: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Machines, summaries and the judged workloads one by one, fit for JSON."""
        return {
            "start": self.start.model_dump(),
            "machine": self.machine.model_dump(),
            "evaluations": len(self.losses),
            "stopped": self.stopped,
            "fitted_on": self.fitted_on.summary(),
            "judged": self.judged.summary(),
            "judged_before": self.judged_before.summary(),
            "rebuilt": self.rebuilt.summary(),
            "workloads": [_workload_row(twin) for twin in self.judged.twins],
        }

    def table(self) -> Table:
        """The same for people."""
        table = Table(title="Simulated over measured goodput", title_justify="left")
        for heading in ("", "fitted to", "judged on", "judged, before", "judged, rebuilt"):
            table.add_column(heading, justify="left" if not heading else "right")
        summaries = [one.summary() for one in (self.fitted_on, self.judged, self.judged_before, self.rebuilt)]
        for name, form in (
            ("workloads", "{:.0f}"),
            ("tuples", "{:.0f}"),
            ("error_median", "{:.1%}"),
            ("error_p90", "{:.1%}"),
            ("deviation_median", "{:.1%}"),
            ("deviation_p90", "{:.1%}"),
            ("pairs_alike", "{:.1%}"),
            ("regret_median", "{:.1%}"),
            ("regret_p90", "{:.1%}"),
        ):
            values = [one[name] for one in summaries]
            table.add_row(name.replace("_", " "), *("-" if math.isnan(one) else form.format(one) for one in values))
        return table


def _workload_row(twin: Twin) -> dict[str, Any]:
    apart, alike = twin.pairs
    return {
        "workload": twin.measured.workload.name,
        "error_median": float(np.median(twin.errors)),
        "error_p90": float(np.quantile(twin.errors, 0.9)),
        "noise": twin.noise,
        "pairs": apart,
        "pairs_alike": alike / apart if apart else 1.0,
        "choice": list(twin.choice),
        "regret": twin.regret,
    }


def calibrate(
    settings: CalibrateSettings, console: Console | None = None, keep: Callable[[Machine], None] | None = None
) -> Calibration:
    """Fits a machine and evaluates it; Ctrl-C ends the search with the best machine so far.

    Args:
        settings: What is fitted, to what, and what it is judged by.
        console: Where progress and warnings are shown.
        keep: Is given the machine as soon as the search is over: evaluating it takes a while and may fail.

    Raises:
        KeyboardInterrupt: The user has ended the evaluation too.
        ServerError: A simulation cannot go on.
        SettingError: The machine to start with cannot be read.
        StoreError: There are too few workloads, or `records --check` finds a fault that matters here: not what
            is compared with the default, nor which families are held out.
    """
    shown = console or terminal()
    fit, judged = _parts(settings, shown)
    search = _Search(settings, _fitted_to(settings, fit), shown)
    search.run()
    if keep is not None:
        keep(search.best)
    best = _MachineFor(search.best, settings)
    seen = rebuilt(judged, best)
    if len(seen) < len(judged):
        without = f"{len(judged) - len(seen)} of {len(judged)} judged workloads"
        warn([f"{without} cannot be rebuilt from a window, and are judged only as they were sent"], shown)
    return Calibration(
        search.start,
        search.best,
        search.report_of(search.best),
        simulate_twins(judged, best),
        simulate_twins(judged, _MachineFor(search.start, settings)),
        simulate_twins(seen, best),
        search.losses,
        search.stopped,
    )


def _parts(settings: CalibrateSettings, shown: Console) -> tuple[list[MeasuredWorkload], list[MeasuredWorkload]]:
    """The workloads to fit to, in an order by chance, and those to judge by."""
    stores = [CheckedStore(one, settings.splits) for one in (settings.store, settings.judged_store) if one is not None]
    checked = RecordCheck.of(stores, older_timer=settings.older_timer)
    warn(checked.refuse(but=("leak", "no_default")), shown)
    rng, most = np.random.default_rng(settings.seed), settings.judged_workloads
    measured = read_measured(settings.store, settings.splits, settings.most_steal)
    order = [measured[place] for place in rng.permutation(len(measured))]
    if settings.judged_store is not None:
        others = read_measured(settings.judged_store, settings.splits, settings.most_steal)
        return order, [others[place] for place in np.sort(rng.permutation(len(others))[:most])]
    kept_back = max(round(settings.judged_share * len(order)), 1)
    if kept_back >= len(order):
        raise StoreError(
            f"the store {settings.store} holds too few workloads to fit to one part and judge by the other"
        )
    return order[kept_back:], order[: min(kept_back, most)]


def _fitted_to(settings: CalibrateSettings, fit: Sequence[MeasuredWorkload]) -> list[MeasuredWorkload]:
    """So many of the workloads as are asked for, of those that have a window that counts among the first ones."""
    counting = [one for one in fit if any(stage.counts for stage in one.stages[: settings.windows])]
    if not counting:
        raise StoreError(
            f"the store {settings.store} holds nothing to fit to: the hypervisor took more than "
            f"{settings.most_steal:.0%} of the first {settings.windows} windows of every workload; raise windows or "
            "most_steal"
        )
    return counting[: settings.workloads]


class _Search:
    """Nelder and Mead's search over the logarithms of the parameters, with the random numbers held fixed."""

    def __init__(self, settings: CalibrateSettings, fit: Sequence[MeasuredWorkload], console: Console) -> None:
        self.settings = settings
        self.fit = fit
        self.start = CALIBRATED if settings.start is None else read_machine(settings.start)
        self.best = self.start
        self.losses: list[float] = []
        self.stopped = False
        self.progress = new_progress(console)

    def run(self) -> None:
        if not self.settings.fitted:
            return
        begin = np.log([np.clip(getattr(self.start, name), *FITTED[name]) for name in self.settings.fitted])
        simplex = np.vstack([begin, begin + self.settings.step * np.eye(len(begin))])
        options = {"initial_simplex": simplex, "maxfev": self.settings.evaluations, "xatol": 0.01, "fatol": 1e-4}
        bounds = [tuple(np.log(FITTED[name])) for name in self.settings.fitted]
        with self.progress:
            self.task = self.progress.add_task("calibrating", total=self.settings.evaluations, shown="")
            try:
                minimize(self._loss, begin, method="Nelder-Mead", bounds=bounds, options=options)
            except KeyboardInterrupt:
                self.stopped = True

    def machine_of(self, logs: NDArray[np.float64]) -> Machine:
        values = dict(zip(self.settings.fitted, np.exp(logs).tolist(), strict=True))
        return self.start.model_copy(update=values)

    def report_of(self, machine: Machine) -> TwinReport:
        return simulate_twins(self.fit, _MachineFor(machine, self.settings), stages=self.settings.windows)

    def _loss(self, logs: NDArray[np.float64]) -> float:
        machine = self.machine_of(logs)
        loss = self.report_of(machine).loss
        if not self.losses or loss < min(self.losses):
            self.best = machine
        self.losses.append(loss)
        shown = f"mean distance {min(self.losses):.1%}"
        self.progress.update(self.task, completed=len(self.losses), shown=shown)
        return loss


class _MachineFor:
    """The machine of a workload: shared with the load generator where the workload takes all its processors."""

    def __init__(self, machine: Machine, settings: CalibrateSettings) -> None:
        self.machine = machine
        self.machine_cpus = settings.machine_cpus

    def __call__(self, workload: Workload) -> Machine:
        return self.machine.model_copy(update={"client_shares": workload.cpus >= self.machine_cpus})
