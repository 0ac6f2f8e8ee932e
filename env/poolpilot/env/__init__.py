"""What a controller meets: knobs, the objective, pool servers, measurement and the loop that tunes.

The gymnasium environments are in `poolpilot.env.environments`, which needs the extra `train`.

Examples:
    >>> from poolpilot.env import ClimbController, ClimbSettings, CurveServer, Objective, spectral_climber, tune
    >>> server = CurveServer([(1, 100), (16, 1200), (64, 600)])
    >>> climber = spectral_climber(ClimbSettings(), server.knobs, size=2)
    >>> controller = ClimbController(climber, server.tuple_in_force(), Objective())
    >>> trace = tune(server, controller, Objective(), horizon_s=20.0)
    >>> 10 <= trace.final_tuple.pool_size <= 24
    True
"""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.env.action_grid import DEFAULT_GRID, LARGE_GRID, ActionGrid
    from poolpilot.env.climbing.climb import ClimbController, Climber
    from poolpilot.env.climbing.knob_climb import KnobClimbController
    from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
    from poolpilot.env.controller import Controller, Trial
    from poolpilot.env.knobs import Knob, KnobSpace
    from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, measure, observe, sweep
    from poolpilot.env.measurement.sample_sweeps import sample_families, sample_sweeps
    from poolpilot.env.measurement.sweep import WorkloadSweep
    from poolpilot.env.objective import Objective, regret
    from poolpilot.env.server import PoolServer, WindowSource
    from poolpilot.env.servers.curve import CurveServer
    from poolpilot.env.servers.native import NativeServer
    from poolpilot.env.servers.recorded import RecordedServer
    from poolpilot.env.servers.simulated import SimulatedServer
    from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
    from poolpilot.env.tuning.factory import open_server
    from poolpilot.env.tuning.loop import TuningStep, TuningTrace, tune
    from poolpilot.env.tuning.target import Target
    from poolpilot.env.workloads.families import FAMILIES, draw_workload
    from poolpilot.env.workloads.observed_workload import observed_workload
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "action_grid": ("DEFAULT_GRID", "LARGE_GRID", "ActionGrid"),
            "climbing.climb": ("ClimbController", "Climber"),
            "climbing.knob_climb": ("KnobClimbController",),
            "climbing.spectral": ("ClimbSettings", "spectral_climber"),
            "controller": ("Controller", "Trial"),
            "knobs": ("Knob", "KnobSpace"),
            "measurement.protocol": ("Measured", "MeasurementSettings", "measure", "observe", "sweep"),
            "measurement.sample_sweeps": ("sample_families", "sample_sweeps"),
            "measurement.sweep": ("WorkloadSweep",),
            "objective": ("Objective", "regret"),
            "server": ("PoolServer", "WindowSource"),
            "servers.curve": ("CurveServer",),
            "servers.native": ("NativeServer",),
            "servers.recorded": ("RecordedServer",),
            "servers.simulated": ("SimulatedServer",),
            "servers.simulated_measurement": ("Scenario", "SimulatedMeasurement", "simulate_batch"),
            "tuning.factory": ("open_server",),
            "tuning.loop": ("TuningStep", "TuningTrace", "tune"),
            "tuning.target": ("Target",),
            "workloads.families": ("FAMILIES", "draw_workload"),
            "workloads.observed_workload": ("observed_workload",),
        },
    )

__all__ = [
    "DEFAULT_GRID",
    "FAMILIES",
    "LARGE_GRID",
    "ActionGrid",
    "ClimbController",
    "ClimbSettings",
    "Climber",
    "Controller",
    "CurveServer",
    "Knob",
    "KnobClimbController",
    "KnobSpace",
    "Measured",
    "MeasurementSettings",
    "NativeServer",
    "Objective",
    "PoolServer",
    "RecordedServer",
    "Scenario",
    "SimulatedMeasurement",
    "SimulatedServer",
    "Target",
    "Trial",
    "TuningStep",
    "TuningTrace",
    "WindowSource",
    "WorkloadSweep",
    "draw_workload",
    "measure",
    "observe",
    "observed_workload",
    "open_server",
    "regret",
    "sample_families",
    "sample_sweeps",
    "simulate_batch",
    "spectral_climber",
    "sweep",
    "tune",
]
