"""Every method of a live evaluation runs on any machine, as one controller each."""

import pytest

from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.loop import tune
from poolpilot.models.champion import load_champion
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurve, ResponseCurves
from poolpilot.pipelines.evaluate.live.live_methods import MethodSettings, methods_on

GRID = MachineGrid(sizes=(4, 64), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(500,))
CURVES = ResponseCurves(
    grid=GRID,
    source="made for tests",
    curves=(
        ResponseCurve(name="a", family="a", cpus=2, connections=64, log_worth=(1.0, 3.0, 0.0)),
        ResponseCurve(name="b", family="b", cpus=2, connections=64, log_worth=(3.0, 1.0, 2.5)),
    ),
)


@pytest.mark.parametrize("cpus", [1, 6, 96])
def test_every_method_runs_on_any_machine(cpus: int) -> None:
    methods = methods_on(CURVES, load_champion(), MethodSettings(tries=(1, 2)))
    assert {"wait_ratio", "portfolio_1", "portfolio_2", "latent_bandit_2", "refiner", "warm_start", "cold"} <= set(
        methods
    )
    for open_method in methods.values():
        with CurveServer([(1, 100), (16, 1200), (128, 600)], cpus=cpus, connections=256) as server:
            trace = tune(server, open_method(server.knobs, Objective()), Objective(), period_s=0.5, horizon_s=6.0)
        assert trace.duration_s == pytest.approx(6.0, abs=1.0)
        server.knobs.check(trace.final_tuple)
