"""The benchmark runs ours and SimPy's models and gives every rate that it promises; how fast is not a test's matter."""

import json
from pathlib import Path

import pytest

from poolpilot.pipelines.bench.simpy_models import run_mmc
from poolpilot.pipelines.bench.simulator import SimulatorBenchSettings, bench_simulator
from poolpilot.serve.commands.observe.bench_simulator_command import run

QUICK = SimulatorBenchSettings(
    repeats=2, services=5000, requests=5000, simpy_share=0.1, env_steps=10, window_requests=50
)


def test_every_rate_is_given_with_its_repeats_and_ratios() -> None:
    values = bench_simulator(QUICK).as_dict()
    repeats = values["repeats"]
    assert isinstance(repeats, dict)
    assert repeats.keys() == {
        "events_per_s_core",
        "simpy_events_per_s",
        "pool_requests_per_s_core",
        "simpy_pool_requests_per_s",
        "env_steps_per_s",
    }
    assert all(len(rates) == 2 and min(rates) > 0.0 for rates in repeats.values())
    assert values["events_over_simpy"] == pytest.approx(
        sum(a / b for a, b in zip(repeats["events_per_s_core"], repeats["simpy_events_per_s"], strict=True)) / 2
    )
    assert isinstance(values["bytes_per_connection"], float)
    assert values["bytes_per_connection"] > 32.0


def test_table_is_written_for_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(QUICK, tmp_path / "bench.json")
    assert "SimPy" in capsys.readouterr().out
    assert json.loads((tmp_path / "bench.json").read_text())["events_over_simpy_least"] > 0.0


def test_simpy_counts_an_arrival_and_a_departure_for_each_service() -> None:
    assert run_mmc(2, 1.0, 100, seed=0) == 200
