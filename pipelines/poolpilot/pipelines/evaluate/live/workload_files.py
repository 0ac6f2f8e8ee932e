"""Workload files: a server and what is sent to it, as JSON that anybody can write; see docs/evaluation.md."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from poolpilot.env.lab.lab_server import LabPlace
from poolpilot.env.lab.sql_workload import SqlWorkload
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.errors import SettingError
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.servers import open_native
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.stage import Stage

FIELDS = ("server", "workload", "machine", "objective")


def read_stages(folder: Path, place: LabPlace) -> list[Stage]:
    """The stages of all files `*.json` of a folder, by file name.

    Args:
        folder: The folder.
        place: Where a test server of MariaDB lies.

    Raises:
        SettingError: There is no such folder or no such file, or one is not a workload file.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise SettingError(f"there is no workload file *.json in {folder}; docs/evaluation.md says how one is written")
    found: dict[str, tuple[Path, Stage]] = {}
    for file in files:
        stage = read_stage(file, place)
        if stage.name in found:
            raise SettingError(f"{found[stage.name][0]} and {file} have one name, {stage.name!r}: give each its own")
        found[stage.name] = file, stage
    return [stage for _, stage in found.values()]


def read_stage(file: Path, place: LabPlace) -> Stage:
    """The stage of one file.

    Raises:
        SettingError: It cannot be read or is not a workload file; the sentence names the file and the field.
    """
    try:
        content = file.read_bytes()
        values = json.loads(content)
    except OSError as error:
        raise SettingError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise SettingError(f"{file} is not JSON: {error}") from error
    if not isinstance(values, Mapping) or values.get("server") not in STAGES:
        raise SettingError(f"{file}: a workload file is an object whose 'server' is one of {', '.join(STAGES)}")
    unknown = sorted(set(values) - set(FIELDS))
    if unknown:
        raise SettingError(f"{file} has an unknown field {unknown[0]!r}; allowed are {', '.join(FIELDS)}")
    workload = values.get("workload")
    if not isinstance(workload, Mapping):
        raise SettingError(f"{file}: 'workload' must be an object")
    try:
        stage = STAGES[values["server"]]({"name": file.stem, "family": file.stem, **workload}, values, place)
        return _checked(replace(_with_objective(stage, values.get("objective")), digest=sha256(content).hexdigest()))
    except KeyError as error:
        raise SettingError(f"{file}: the field {error} is missing") from error
    except (SettingError, TypeError, ValueError) as error:
        raise SettingError(f"{file}: {_first_line(error)}") from error


def _native(workload: dict[str, Any], _: Mapping[str, Any], __: LabPlace) -> Stage:
    made = _workload(workload)
    objective = Objective.of_classes(made.classes)
    _simulated_once(Scenario(made, CALIBRATED))  # the embedded pool takes the same values
    return _stage_of(made, objective, lambda: open_native(made))


def _simulated(workload: dict[str, Any], values: Mapping[str, Any], _: LabPlace) -> Stage:
    made = _workload(workload)
    machine = Machine.model_validate({**CALIBRATED.model_dump(), **values.get("machine", {})})
    scenario = Scenario(made, machine)
    _simulated_once(scenario)
    return _stage_of(made, scenario.objective, scenario.open)


def _mariadb(workload: dict[str, Any], _: Mapping[str, Any], place: LabPlace) -> Stage:
    unknown = sorted(set(workload) - {field.name for field in fields(SqlWorkload)})
    if unknown:
        raise SettingError(f"the workload has an unknown field {unknown[0]!r}")
    return lab_stage(SqlWorkload.from_dict(workload), place)


STAGES: Mapping[str, Callable[[dict[str, Any], Mapping[str, Any], LabPlace], Stage]] = {
    "native": _native,
    "simulated": _simulated,
    "mariadb": _mariadb,
}
"""What makes a stage of the workload of a file, by its server."""


def _workload(values: dict[str, Any]) -> Workload:
    unknown = sorted(set(values) - {field.name for field in fields(Workload)})
    if unknown:
        raise SettingError(f"the workload has an unknown field {unknown[0]!r}")
    return Workload.from_dict({"seed": 0, **values})


def _simulated_once(scenario: Scenario) -> None:
    """Opens a simulated pool, which takes no time and checks every value.

    Raises:
        SettingError: One is of the wrong type or outside its range.
    """
    with scenario.open():
        pass


def _stage_of(workload: Workload, objective: Objective, open_server: Callable[[], PoolServer]) -> Stage:
    return Stage(
        workload.name,
        workload.family,
        workload.seed,
        objective,
        open_server,
        _cpu_ms(workload),
        tuple(one.name for one in workload.classes),
    )


def _cpu_ms(workload: Workload) -> dict[str, float]:
    return {
        request_class.name: sum(step.us for step in request_class.steps if step.op == "cpu") / 1000.0
        for request_class in workload.classes
    }


def _with_objective(stage: Stage, values: object) -> Stage:
    if values is None:
        return stage
    objective = Objective.model_validate({**stage.objective.model_dump(), **_mapping(values)})
    return replace(stage, objective=objective)


def _checked(stage: Stage) -> Stage:
    """Refuses a seed that no generator takes, and wishes for classes that there are not.

    Raises:
        SettingError: There is one; the sentence names it.
    """
    if stage.seed < 0:
        raise SettingError(f"'seed' is {stage.seed}; it must be 0 or more")
    for field in ("targets_ms", "weights", "min_share", "max_p99_ms"):
        unknown = sorted(set(getattr(stage.objective, field)) - set(stage.classes))
        if unknown:
            raise SettingError(f"'{field}' names the class {unknown[0]!r}; there are {', '.join(stage.classes)}")
    return stage


def _mapping(values: object) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise SettingError("'objective' must be an object")
    return values


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).splitlines()[0]
