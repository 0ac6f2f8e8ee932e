"""Workload files that somebody else wrote become stages, or are refused in a sentence that names file and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.measurement.protocol import observe
from poolpilot.errors import SettingError
from poolpilot.lab.lab_server import LabPlace
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


def test_simulated_workload_is_judged_by_other_draws_which_repeat(tmp_path: Path) -> None:
    stage = read_stage(written(tmp_path, changed(rate_per_s=2000.0)), LabPlace())
    completed: list[float] = []
    for one in (stage, stage, stage.drawn_anew(), stage.drawn_anew()):
        with one.open_server() as server:
            server.run_for(2.0)
            completed.append(server.snapshot().counters["completed"])
    assert completed[0] == completed[1] != completed[2] == completed[3]


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
        ({"server": ["native"]}, "'server' is one of"),
        ({**SIMULATED, "colour": 1}, "no field 'colour'; allowed are server, workload"),
        ({"server": "native", "workload": []}, "'workload' must be an object"),
        ({"server": "native"}, "'classes' is missing"),
        (changed(colour=1), "no field 'colour'; allowed are"),
        (changed(classes=[{"name": "all"}]), "steps"),
        ({**SIMULATED, "objective": {"speed": 1}}, "speed"),
        ({**SIMULATED, "objective": 3}, "'objective' must be an object"),
        ({**SIMULATED, "machine": {"law": "magic"}}, "law"),
        (
            {**MARIADB, "workload": {**MARIADB["workload"], "cpu": 1}},
            "no field 'cpu'; allowed are name, family, classes, dataset, cpus",
        ),
        ({"server": "mariadb", "workload": {}}, "classes"),
        (changed(connections=0), "connections"),
        (changed(connections=2.5), "'connections' is 2.5"),
        (changed(rate_per_s="100"), "'rate_per_s' is \"100\""),
        (changed(rate_per_s=2e6), "'rate_per_s' is 2e.06: it must be 0.001 to 1,000,000"),
        (changed(seed=-1), "'seed' is -1"),
        (changed(classes=[{"name": "all", "steps": [{"op": "sleep", "us": 1.0}]}]), "sleep"),
        (changed(classes=[{"name": "all", "steps": [{"op": "wait", "us": "2000"}]}]), 'us\' is "2000"'),
        (changed(classes=[{"name": str(one), "steps": STEPS} for one in range(9)]), "classes"),
        ({**SIMULATED, "objective": {"min_share": {"lang": 0.3}}}, "'min_share' names the class 'lang'; there are all"),
        (of_mariadb(seed=-1), "'seed' is -1"),
        (changed(name=""), "the 'name' of the workload is ''; it must have at least one letter or digit"),
        ({**changed(name=" "), "server": "native"}, "the 'name' of the workload is ' '"),
        (of_mariadb(name=""), "the 'name' of the workload is ''"),
        (changed(classes=[{"name": "", "steps": STEPS}]), "the 'name' of a class is ''"),
        ({**changed(classes=[{"name": "", "steps": STEPS}]), "server": "native"}, "the 'name' of a class is ''"),
        (of_mariadb(classes=[{**READS, "name": ""}]), "the 'name' of a class is ''"),
        (of_mariadb(slow_disk_us=[5000, 2000]), "slow_disk_us"),
        (of_mariadb(slow_disk_us=[5000, -1, 0]), "three delays"),
        (of_mariadb(cpus=0), "it needs at least one"),
        (of_mariadb(dataset="empty"), "has no tables"),
        ({**changed(cpus=0), "server": "native"}, "'cpus' is 0: it must be at least 1"),
        (changed(cpus=-2), "'cpus' is -2"),
        ({**SIMULATED, "machine": 3}, "'machine' must be an object"),
        ({**SIMULATED, "objective": {"price_of_thread": "0.1"}}, "price_of_thread: Input should be a valid number"),
        ({**SIMULATED, "objective": {"min_share": {"all": True}}}, "min_share.all: Input should be a valid number"),
        (changed(connections=2**40), "'connections' is 1099511627776: it must be at most 2,147,483,647"),
        (changed(name="\ud800"), "a text in it is no Unicode"),
        (
            of_mariadb(classes=[{**READS, "options": {"rows": None}}]),
            "options.rows' is null: it must be a number or a text",
        ),
        (of_mariadb(classes=[{**READS, "options": {"rows": {"a": 1}}}]), "options.rows' is {"),
        (changed(connections=list(range(999))), r"\.\.\.: it must be a valid integer"),
        ({**SIMULATED, "objective": {"min_share": {"all": 1.5}}}, "less than or equal to 1"),
        (of_mariadb(classes=[READS, READS]), "two classes of one name"),
        (of_mariadb(classes=[{**READS, "script": "tpcc", "options": {"transaction": "payments"}}]), "'payments'"),
    ],
)
def test_wrong_file_is_refused_by_name(tmp_path: Path, values: object, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence) as refused:
        read_stage(written(tmp_path, values), LabPlace())
    assert "mine.json" in str(refused.value)


def test_what_nothing_goes_by_is_remarked(tmp_path: Path) -> None:
    open_loop = changed(rate_per_s=10.0, classes=[{**SIMULATED["workload"]["classes"][0], "think_ms": 5.0}])
    assert read_stage(written(tmp_path, SIMULATED), LabPlace()).remarks == ()
    assert "with rate_per_s nobody pauses" in read_stage(written(tmp_path, open_loop), LabPlace()).remarks[0]
    modelled = {**SIMULATED, "server": "native", "machine": {"law": "magic"}}
    assert "for a simulated server alone" in read_stage(written(tmp_path, modelled), LabPlace()).remarks[0]
    odd = [{**READS, "name": f"class{n}", "burst_period_s": one} for n, one in enumerate((0.97, 1.03))]
    stage = read_stage(written(tmp_path, of_mariadb(classes=odd)), LabPlace())
    assert "give them periods of a small common multiple" in stage.remarks[0]
    offered = of_mariadb(classes=[{**READS, "think_ms": 5.0, "capacity_share": 0.5}])
    assert "where a rate is offered nobody pauses" in read_stage(written(tmp_path, offered), LabPlace()).remarks[0]


def test_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(SettingError, match=r"mine\.json is not JSON"):
        read_stage(file, LabPlace())


@pytest.mark.parametrize(
    ("once", "twice"),
    [('"connections": 32', '"connections": 32, "connections": 8'), ('"us": 300.0', '"us": 300.0, "us": 300.0')],
)
def test_field_that_is_there_twice_is_refused(tmp_path: Path, once: str, twice: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(SIMULATED).replace(once, twice), encoding="utf-8")
    name = once.split('"')[1]
    with pytest.raises(SettingError, match=rf"mine\.json: the field '{name}' is there twice in one object"):
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


def test_what_waits_for_a_connection_where_a_rate_is_offered_is_given_up_after_a_while(tmp_path: Path) -> None:
    offered = changed(connections=4, rate_per_s=4000.0)
    with read_stage(written(tmp_path, offered), LabPlace()).open_server() as server:
        server.run_for(3.0)
        later = observe(server, 1.0).window.p99_ms
        assert later is not None
        server.run_for(3.0)
        assert observe(server, 1.0).window.p99_ms == pytest.approx(later, rel=0.2)
