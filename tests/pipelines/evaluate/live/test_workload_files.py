"""Workload files that somebody else wrote become stages, or are refused in a sentence that names file and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.lab.lab_server import LabPlace
from poolpilot.errors import SettingError
from poolpilot.pipelines.evaluate.live.workload_files import read_stage, read_stages

STEPS = [{"op": "cpu", "us": 300.0}, {"op": "wait", "us": 2000.0}]
SIMULATED: dict[str, Any] = {
    "server": "simulated",
    "workload": {"classes": [{"name": "all", "steps": STEPS, "target_ms": 50.0}], "connections": 32, "cpus": 6},
}
READS = {"name": "reads", "script": "oltp_point_select", "connections": 8}
MARIADB: dict[str, Any] = {"server": "mariadb", "workload": {"classes": [READS]}}


def written(folder: Path, values: object, name: str = "mine") -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    return file


def test_simulated_workload_is_served_on_as_many_processors_as_it_says(tmp_path: Path) -> None:
    stage = read_stage(written(tmp_path, SIMULATED), LabPlace())
    assert (stage.name, stage.family, stage.objective.targets_ms) == ("mine", "mine", {"all": 50.0})
    with stage.open_server() as server:
        server.run_for(0.5)
        assert (server.knobs.cpus, server.tuple_in_force().pool_size) == (6, 6)
        assert server.snapshot().counters["completed"] > 0


def test_native_workload_states_its_objective(tmp_path: Path) -> None:
    values = {**SIMULATED, "server": "native", "objective": {"price_of_thread": 0.0}}
    stage = read_stage(written(tmp_path, values), LabPlace())
    assert stage.objective.price_of_thread == 0.0
    assert stage.objective.targets_ms == {"all": 50.0}
    assert stage.cpu_ms == {"all": 0.3}


def test_files_of_a_folder_are_read_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        written(tmp_path, SIMULATED, name)
    assert [stage.name for stage in read_stages(tmp_path, LabPlace())] == ["a", "b"]


def test_folder_without_files_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no workload file"):
        read_stages(tmp_path / "nowhere", LabPlace())


def changed(**values: Any) -> dict[str, Any]:
    return {**SIMULATED, "workload": {**SIMULATED["workload"], **values}}


def of_mariadb(**values: Any) -> dict[str, Any]:
    return {**MARIADB, "workload": {**MARIADB["workload"], **values}}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "'server' is one of native, simulated, mariadb"),
        ({"server": "oracle"}, "'server' is one of"),
        ({**SIMULATED, "colour": 1}, "unknown field 'colour'"),
        ({"server": "native"}, "'workload' must be an object"),
        (changed(colour=1), "unknown field 'colour'"),
        (changed(classes=[{"name": "all"}]), "steps"),
        ({**SIMULATED, "objective": {"speed": 1}}, "speed"),
        ({**SIMULATED, "objective": 3}, "'objective' must be an object"),
        ({**SIMULATED, "machine": {"law": "magic"}}, "law"),
        ({**MARIADB, "workload": {**MARIADB["workload"], "cpu": 1}}, "unknown field 'cpu'"),
        ({"server": "mariadb", "workload": {}}, "classes"),
        (changed(connections=0), "connections"),
        (changed(connections=2.5e2), "of the wrong type"),
        (changed(rate_per_s="100"), "of the wrong type"),
        (changed(seed=-1), "'seed' is -1"),
        (changed(classes=[{"name": "all", "steps": [{"op": "sleep", "us": 1.0}]}]), "sleep"),
        (changed(classes=[{"name": "all", "steps": [{"op": "wait", "us": "2000"}]}]), "of the wrong type"),
        (changed(classes=[{"name": str(one), "steps": STEPS} for one in range(9)]), "classes"),
        ({**SIMULATED, "objective": {"min_share": {"lang": 0.3}}}, "'min_share' names the class 'lang'; there are all"),
        (of_mariadb(seed=-1), "'seed' is -1"),
        (of_mariadb(slow_disk_us=[5000, 2000]), "three delays"),
        (of_mariadb(classes=[READS, READS]), "two classes of one name"),
        (of_mariadb(classes=[{**READS, "script": "tpcc", "options": {"transaction": "payments"}}]), "'payments'"),
    ],
)
def test_wrong_file_is_refused_by_name(tmp_path: Path, values: object, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence) as refused:
        read_stage(written(tmp_path, values), LabPlace())
    assert "mine.json" in str(refused.value)


def test_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(SettingError, match=r"mine\.json is not JSON"):
        read_stage(file, LabPlace())


def test_two_files_of_one_name_are_refused_with_both(tmp_path: Path) -> None:
    written(tmp_path, SIMULATED)
    written(tmp_path, changed(name="mine"), "other")
    with pytest.raises(SettingError, match=r"mine\.json and .*other\.json have one name, 'mine'"):
        read_stages(tmp_path, LabPlace())


def test_load_of_mariadb_that_repeats_itself_says_after_how_long(tmp_path: Path) -> None:
    bursts = of_mariadb(classes=[{**READS, "burst_period_s": 4.0}])
    assert read_stage(written(tmp_path, bursts), LabPlace()).cycle_s == 4.0
    assert read_stage(written(tmp_path, MARIADB), LabPlace()).cycle_s == 0.0


def test_digest_is_that_of_the_file(tmp_path: Path) -> None:
    first = read_stage(written(tmp_path, SIMULATED), LabPlace())
    same = read_stage(written(tmp_path, SIMULATED), LabPlace())
    other = read_stage(written(tmp_path, changed(connections=33)), LabPlace())
    assert first.digest == same.digest != other.digest
