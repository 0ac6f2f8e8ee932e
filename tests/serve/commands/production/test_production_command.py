"""`poolpilot demo --production --quick`, whole, on a real MariaDB."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import short_folder
from tests.lab_data import LabData
from tests.serve.commands.started_processes import PATIENCE_S, await_ends, descendants

from poolpilot.lab.instance import Lab
from poolpilot.pipelines.demo.production import constant_arms
from poolpilot.serve.commands.production import production_demo
from poolpilot.serve.commands.production.production_command import demo_production
from poolpilot.serve.commands.production.production_settings import ProductionDemoSettings

TUNED_ALONE = """
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.main import main
from poolpilot.serve.commands.production.production_demo import ProductionDemo
ProductionDemo._default_arm = lambda *_: ([], PoolTuple(2, 3, 500))
ProductionDemo._chosen = lambda *_: (PoolTuple(4, 3, 10), [])
ProductionDemo._constant_arm = lambda *_: []
main()
"""
"""The command, whose arms without a tuner are over at once."""


@pytest.fixture(scope="module")
def report(
    mariadb_installed: None,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    lab, output = short_folder(tmp_path_factory) / "s", tmp_path_factory.mktemp("out")
    short: dict[str, Any] = {"arm_s": 2.0, "tuner_s": 4.0, "turn_s": 0.2, "settle_s": 0.1, "window_s": 0.5}
    settings = ProductionDemoSettings(quick=True, lab=lab, output=output, deadline_s=120.0, **short)
    with pytest.MonkeyPatch.context() as patch:
        for module in (constant_arms, production_demo):
            patch.setattr(module, "RUN_UP_S", 0.3)
        demo_production(settings, output / "table.json")
    assert Lab.of(lab).running() is None
    table: dict[str, Any] = json.loads((output / "table.json").read_text(encoding="utf-8"))
    assert table == json.loads((output / "report.json").read_text(encoding="utf-8"))
    assert table["finished"]
    return table


def test_bad_prediction_was_taken_back_and_the_killed_tuner_s_tuple_given_back(report: dict[str, Any]) -> None:
    assert report["planted"]["in_time"]
    assert report["planted"]["planted"] == [1, 1, 160]
    assert report["killed"]["verified"] == [16, 3, 10]
    assert report["killed"]["seconds"] > 0.0


def test_every_arm_saw_every_phase(report: dict[str, Any]) -> None:
    assert list(report["arms"]) == ["default", "constant", "tuner", "settled"]
    for phases in report["arms"].values():
        assert [phase["phase"] for phase in phases] == ["selects", "beside joins", "hot rows", "selects again"]
        assert all(phase["throughput_per_s"] > 0.0 for phase in phases)


def test_decisions_of_every_tuner_are_kept(report: dict[str, Any]) -> None:
    output = Path(report["settings"]["output"])
    kept = {path.parent.name for path in output.glob("decisions/*/decisions.jsonl")}
    assert {"shifts", "planted", "killed-0"} <= kept
    assert not list((output / "journals").glob("*.jsonl"))


@pytest.mark.usefixtures("mariadb_installed")
def test_ctrl_c_stops_tuner_load_and_server(tmp_path_factory: pytest.TempPathFactory, lab_data: LabData) -> None:
    lab, output = short_folder(tmp_path_factory) / "s", tmp_path_factory.mktemp("out")
    lab_data.lay(Lab(lab))
    arguments = ["demo", "--production", "--set", f"lab={lab}", "--output", str(output)]
    command = [sys.executable, "-c", TUNED_ALONE, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("  | Tuner of"):
                    break
            ends_s = time.monotonic() + PATIENCE_S
            while len(started := list(descendants(process.pid))) < 3 and time.monotonic() < ends_s:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert len(started) >= 3, "tuner, load and server"
    await_ends(started)
    assert Lab.of(lab).running() is None
