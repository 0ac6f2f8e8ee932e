"""What a tuner saw and decided is told beside the untouched server, as gains of the whole run and of its end."""

import math

import pytest

from exploring_tuner import row_of
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from unsafe_arms import tuned, untouched
from unsafe_predictors import shipped

WAITS = (RequestClass("query", (Step("cpu", us=100.0), Step("wait", us=4000.0))),)
WORKLOAD = Workload("waits", "mine", WAITS, connections=32, cpus=2)


def test_gains_are_over_the_untouched_server_and_greatest_at_the_end() -> None:
    with SimulatedServer(WORKLOAD) as server:
        usual = untouched(server, 30.0)
    with SimulatedServer(WORKLOAD) as server:
        row = row_of(tuned(server, shipped(0), 120.0), usual)
    assert row["end"] > row["gain"] > math.log(2.0)
    assert row["tries"] >= 1
    assert row["unsafe"] == pytest.approx(0)
