"""What-if: goodput and p99 over the tuple, simulated for a recorded profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Group
from rich.table import Table
from rich.text import Text

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.servers.simulated import MOST_POOL_SIZE
from poolpilot.env.servers.simulated_measurement import Columns, Scenario, simulate_batch
from poolpilot.env.workloads.observed_workload import assumptions, observed_workload
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import Request
from poolpilot.models.prediction_request import RequestError, parse
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.pipelines.calibrate.machine_file import read_machine

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SimulateSettings(ProgramSettings):
    """Settings of `poolpilot advise --simulate FILE`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SIMULATE_")

    profile: Path = Field(
        default=Path("profile.json"),
        description="JSON file: the body of POST /v1/predict, or what climb or lab load wrote. Its last window "
        "is what is simulated; a MariaDB server alone, without its clients' latencies, tells too little for that.",
    )
    machine: Path | None = Field(
        default=None, description="JSON file of a machine, as `learn calibrate` writes it; none is the shipped one."
    )
    grid: bool = Field(default=False, description="Simulate all configurations of the grid, not only the one in force.")
    sizes: tuple[int, ...] = Field(
        default=(1, 2, 4, 8, 16, 32, 64, 128), min_length=1, description="Pool sizes of the grid."
    )
    oversubscribes: tuple[int, ...] = Field(default=(1, 3), min_length=1, description="Oversubscribes of the grid.")
    timer_intervals_ms: tuple[int, ...] = Field(
        default=(10, 500), min_length=1, description="Timer intervals of the grid in milliseconds."
    )
    requests: int = Field(default=20_000, ge=100, description="Requests simulated under each configuration.")
    png: Path | None = Field(default=None, description="Draw the grid as heat maps into this file.")


@dataclass(frozen=True)
class WhatIf:
    """A profile simulated under some tuples.

    Attributes:
        scenario: The workload rebuilt, and its machine.
        in_force: The tuple the profile was measured under.
        measured_goodput_per_s: What was measured under it.
        simulated_goodput_per_s: What the simulation gives under it.
        columns: One row for each tuple of the grid, with the other knobs as in force; see `simulate_batch`.
        assumed: What the profile does not tell and was taken for granted, as sentences.
    """

    scenario: Scenario
    in_force: PoolTuple
    measured_goodput_per_s: float
    simulated_goodput_per_s: float
    columns: Columns | None
    assumed: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The workload and the grid, fit for JSON."""
        columns = {} if self.columns is None else {name: one.tolist() for name, one in self.columns.items()}
        return {
            "simulated": True,
            "in_force": self.in_force.as_dict(),
            "measured_goodput_per_s": self.measured_goodput_per_s,
            "simulated_goodput_per_s": self.simulated_goodput_per_s,
            "workload": self.scenario.workload.as_dict(),
            "machine": self.scenario.machine.model_dump(),
            "grid": columns,
            "assumed": list(self.assumed),
        }

    def shown(self) -> Group:
        """Tables for people."""
        return Group(self._check_table(), *self._grid_tables())

    def _check_table(self) -> Table:
        table = Table(title="The configuration in force", show_header=False, title_justify="left")
        table.add_row("configuration", f"{self.in_force} (pool size, oversubscribe, timer interval ms)")
        table.add_row("goodput, measured", f"{self.measured_goodput_per_s:,.0f}/s")
        error = self.simulated_goodput_per_s / self.measured_goodput_per_s - 1.0
        table.add_row("goodput, simulated", f"{self.simulated_goodput_per_s:,.0f}/s ({error:+.0%})")
        for one in self.scenario.workload.classes:
            table.add_row(f"a request of class {one.name}", _in_words(one))
        for sentence in self.assumed:
            table.add_row("assumed", sentence)
        return table

    def _grid_tables(self) -> list[Table]:
        if self.columns is None:
            return []
        return [
            _grid_table(self.columns, "goodput_per_s", "Goodput a second (simulated)", "{:,.0f}"),
            _grid_table(self.columns, "p99_ms", "99th percentile of the latency in ms (simulated)", "{:,.1f}"),
        ]

    def figure(self) -> "Figure":
        """Heat maps of goodput and p99 over pool size and the other two knobs.

        Raises:
            SettingError: No grid was simulated.
        """
        if self.columns is None:
            raise SettingError("there is nothing to draw: --png needs --grid")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 4.5), layout="constrained")
        for axes, (name, title) in zip(
            figure.subplots(1, 2),
            (("goodput_per_s", "goodput a second, simulated"), ("p99_ms", "p99 in ms, simulated")),
            strict=True,
        ):
            sizes, others, values = _as_grid(self.columns, name)
            image = axes.imshow(values, aspect="auto", origin="lower", cmap="viridis")
            axes.set(xlabel="oversubscribe, timer interval (ms)", ylabel="pool size", title=title)
            axes.set_xticks(range(len(others)), [f"{one[0]}, {one[1]}" for one in others])
            axes.set_yticks(range(len(sizes)), [str(one) for one in sizes])
            figure.colorbar(image, ax=axes)
        return figure


def what_if(settings: SimulateSettings) -> WhatIf:
    """Rebuilds the workload of a profile and simulates it.

    Raises:
        SettingError: The profile or the machine cannot be read, or the simulator lacks the tuple in force, or the grid
            holds no tuple that it and the server allow.
        FeatureError: The profile lacks what a workload is rebuilt from; the text says what.
    """
    request = _read_profile(settings.profile)
    machine = CALIBRATED if settings.machine is None else read_machine(settings.machine)
    window, limits, objective = request.windows[-1], request.limits, request.objective
    most = min(int(limits.knobs["pool_size"].high), MOST_POOL_SIZE)
    simulated = KnobSpace.stock(limits.cpus, most)
    _check(simulated, window.pool_tuple, f"the configuration in force {window.pool_tuple}")
    workload = observed_workload(window, limits, objective, machine)
    scenario = Scenario(workload, machine, max_pool_size=most)
    in_force = simulate_batch([scenario], [window.pool_tuple], settings.requests)
    return WhatIf(
        scenario,
        window.pool_tuple,
        objective.goodput_per_s(window),
        float(in_force["goodput_per_s"][0]),
        _grid(settings, scenario, request, simulated) if settings.grid else None,
        assumptions(window),
    )


def _check(simulated: KnobSpace, pool_tuple: PoolTuple, what: str) -> None:
    try:
        simulated.check(pool_tuple)
    except SettingError as error:
        raise SettingError(f"the simulator cannot simulate {what}: {error}") from error


def _grid(settings: SimulateSettings, scenario: Scenario, request: Request, simulated: KnobSpace) -> Columns:
    in_force = request.windows[-1].pool_tuple
    tuples = [
        in_force.with_core((size, oversubscribe, timer_interval_ms))
        for size in settings.sizes
        for oversubscribe in settings.oversubscribes
        for timer_interval_ms in settings.timer_intervals_ms
    ]
    allowed = [one for one in tuples if request.limits.allows(one)]
    if not allowed:
        raise SettingError(
            "the grid holds nothing that the server of the profile allows: give other sizes by --set sizes=N,N"
        )
    if not any(simulated.allows(one) for one in allowed):
        _check(simulated, allowed[0], "any configuration of the grid")
    return simulate_batch([scenario], allowed, settings.requests)


def _read_profile(path: Path) -> Request:
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise SettingError(f"cannot read the profile {path}: {error.strerror}") from error
    except RequestError as error:
        raise SettingError(f"the profile {path} is no body of a prediction request: {error}") from error


def _as_grid(columns: Columns, name: str) -> tuple[list[int], list[tuple[int, int]], NDArray[np.float64]]:
    """Sizes, pairs of the other knobs, and the values over them; NaN where a tuple was not simulated or has none."""
    cores = [
        (int(size), (int(oversubscribe), int(timer)))
        for size, oversubscribe, timer in zip(
            columns["pool_size"], columns["oversubscribe"], columns["timer_interval_ms"], strict=True
        )
    ]
    sizes, others = sorted({core[0] for core in cores}), sorted({core[1] for core in cores})
    values = np.full((len(sizes), len(others)), np.nan)
    for (size, other), value in zip(cores, columns[name], strict=True):
        values[sizes.index(size), others.index(other)] = value
    return sizes, others, values


def _best(values: NDArray[np.float64]) -> int | None:
    """Place of the largest value; None where there is none."""
    return None if np.isnan(values).all() else int(np.nanargmax(values))


def _grid_table(columns: Columns, name: str, title: str, form: str) -> Table:
    sizes, others, values = _as_grid(columns, name)
    best = _best(values if name == "goodput_per_s" else -values)
    table = Table(
        title=title, title_justify="left", caption="oversubscribe, timer interval in ms", caption_justify="left"
    )
    table.add_column("pool size", justify="right")
    for oversubscribe, timer_interval_ms in others:
        table.add_column(f"{oversubscribe}, {timer_interval_ms}", justify="right")
    for row, size in enumerate(sizes):
        cells = ["-" if np.isnan(value) else form.format(value) for value in values[row]]
        marked = [Text(cell, style="bold" if row * len(others) + at == best else "") for at, cell in enumerate(cells)]
        table.add_row(str(size), *marked)
    return table


def _in_words(one: Any) -> str:
    """The program of a class, as people read it."""
    words: Mapping[str, str] = {
        "acquire": "takes a latch",
        "release": "releases it",
        "begin": "begins",
        "commit": "commits",
    }
    parts = []
    for step in one.steps:
        if step.op == "cpu":
            parts.append(f"{step.us:,.0f} us of CPU")
        elif step.op == "wait":
            parts.append(f"waits {step.us:,.0f} us, {'reported' if step.reported else 'not reported'}")
        else:
            parts.append(words[step.op])
    think = f"; then pauses {one.think_ms:,.1f} ms" if one.think_ms else ""
    return ", ".join(parts) + think
