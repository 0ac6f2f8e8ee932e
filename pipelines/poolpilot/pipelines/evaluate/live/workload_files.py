"""Workload files: a server and what is sent to it, as JSON that anybody can write; see docs/workload-files.md."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.workload_fields import from_fields, unused, workload_from_fields
from poolpilot.errors import SettingError
from poolpilot.lab.datasets import check_tables
from poolpilot.lab.lab_server import LabPlace
from poolpilot.lab.sql_workload import LONGEST_CYCLE_S, SqlWorkload
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.servers import open_native
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.stage import Stage

LEAST_RATE, MOST_RATE = 0.001, 1e6
"""Arrivals a second that a load may offer."""

PATIENCE_S = 0.25
"""Seconds of arrivals that may wait for a connection; a client gives up what cannot be sent, as those of MariaDB do
(`patience_ms` of `lua/client.lua`). Without an end a server that cannot serve a rate is later every second."""

OTHER_DRAWS = 15_485_863
"""What a simulated comparison adds to a workload's seed, so that no choice is judged by a window it was made on."""

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
        raise SettingError(
            f"there is no workload file *.json in {folder}; docs/workload-files.md says how one is written"
        )
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
        values = _framed(json.loads(content, object_pairs_hook=_once_each))
        workload = {"name": file.stem, "family": file.stem, **values.get("workload", {})}
        stage = STAGES[values["server"]](workload, values, place)
        if values["server"] != "simulated" and "machine" in values:
            stage = replace(stage, remarks=(*stage.remarks, "its 'machine' is for a simulated server alone"))
        return _checked(replace(_with_objective(stage, values), digest=sha256(content).hexdigest()))
    except OSError as error:
        raise SettingError(f"cannot read {file}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingError(f"{file} is not JSON: {error}") from error
    except (SettingError, TypeError, ValueError) as error:
        raise SettingError(f"{file}: {_first_line(error)}") from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file; of two fields of one name JSON would silently take the last.

    Raises:
        SettingError: A field is there twice.
    """
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise SettingError(f"the field {name!r} is there twice in one object: leave one of them out")
        made[name] = value
    return made


def _framed(values: object) -> Mapping[str, Any]:
    """What a file holds.

    Raises:
        SettingError: It is no object with the fields of a workload file.
    """
    server = values.get("server") if isinstance(values, Mapping) else None
    if not isinstance(values, Mapping) or not isinstance(server, str) or server not in STAGES:
        raise SettingError(f"a workload file is an object whose 'server' is one of {', '.join(STAGES)}")
    unknown = sorted(set(values) - set(FIELDS))
    if unknown:
        raise SettingError(f"there is no field {unknown[0]!r}; allowed are {', '.join(FIELDS)}")
    for field in FIELDS[1:]:
        if not isinstance(values.get(field, {}), Mapping):
            raise SettingError(f"{field!r} must be an object")
    return values


def _native(workload: dict[str, Any], _: Mapping[str, Any], __: LabPlace) -> Stage:
    made = _of_a_pool(workload)
    objective = Objective.of_classes(made.classes)
    _simulated_once(Scenario(made, CALIBRATED))  # the embedded pool takes the same values
    return _stage_of(made, objective, lambda: open_native(made, backlog_limit=backlog_limit(made)))


def _simulated(workload: dict[str, Any], values: Mapping[str, Any], _: LabPlace) -> Stage:
    made = _of_a_pool(workload)
    modelled = {**CALIBRATED.model_dump(), **values.get("machine", {})}
    machine = Machine.model_validate_json(json.dumps(modelled), strict=True)
    scenario = Scenario(made, machine, backlog_limit=backlog_limit(made))
    _simulated_once(scenario)
    again = replace(scenario, workload=replace(made, seed=made.seed + OTHER_DRAWS))
    stage = _stage_of(made, scenario.objective, scenario.open)
    return replace(stage, in_virtual_time=True, open_again=again.open)


def _mariadb(workload: dict[str, Any], _: Mapping[str, Any], place: LabPlace) -> Stage:
    made = from_fields(SqlWorkload, workload)
    check_tables(made)
    rated = [one.name for one in made.classes if one.think_ms and (one.rate_per_s or one.capacity_share)]
    remarks = [f"class {name} has think_ms, but where a rate is offered nobody pauses" for name in rated]
    if not made.has_cycle:
        remarks.append(
            f"its bursts and side job begin together after more than {LONGEST_CYCLE_S:g} s: windows hold whole cycles "
            f"of the longest alone, {made.cycle_s:g} s; give them periods of a small common multiple"
        )
    return replace(lab_stage(made, place), remarks=tuple(remarks))


STAGES: Mapping[str, Callable[[dict[str, Any], Mapping[str, Any], LabPlace], Stage]] = {
    "native": _native,
    "simulated": _simulated,
    "mariadb": _mariadb,
}
"""What makes a stage of the workload of a file, by its server."""


def backlog_limit(workload: Workload) -> int | None:
    """Arrivals that may wait for a connection where a rate is offered: those of `PATIENCE_S`."""
    return None if workload.rate_per_s is None else math.ceil(PATIENCE_S * workload.rate_per_s)


def _of_a_pool(values: Mapping[str, Any]) -> Workload:
    made = workload_from_fields(values)
    if made.cpus < 1:
        raise SettingError(f"the field 'cpus' is {made.cpus}: it must be at least 1")
    if made.rate_per_s is not None and not LEAST_RATE <= made.rate_per_s <= MOST_RATE:
        raise SettingError(
            f"the field 'rate_per_s' is {made.rate_per_s:g}: it must be {LEAST_RATE:g} to {MOST_RATE:,.0f}"
        )
    return made


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
        remarks=tuple(unused(workload)),
    )


def _cpu_ms(workload: Workload) -> dict[str, float]:
    return {
        request_class.name: sum(step.us for step in request_class.steps if step.op == "cpu") / 1000.0
        for request_class in workload.classes
    }


def _with_objective(stage: Stage, values: Mapping[str, Any]) -> Stage:
    wished = {**stage.objective.model_dump(), **values.get("objective", {})}
    objective = Objective.model_validate_json(json.dumps(wished), strict=True)
    return replace(stage, objective=objective)


def _checked(stage: Stage) -> Stage:
    """Refuses a seed that no generator takes, names without a letter, and wishes for classes that there are not.

    Raises:
        SettingError: There is one; the sentence names it.
    """
    if stage.seed < 0:
        raise SettingError(f"'seed' is {stage.seed}; it must be 0 or more")
    for what, name in (
        ("'name' of the workload", stage.name),
        *(("'name' of a class", name) for name in stage.classes),
    ):
        if not name.strip():
            raise SettingError(f"the {what} is {name!r}; it must have at least one letter or digit")
    for field in ("targets_ms", "weights", "min_share", "max_p99_ms"):
        unknown = sorted(set(getattr(stage.objective, field)) - set(stage.classes))
        if unknown:
            raise SettingError(f"'{field}' names the class {unknown[0]!r}; there are {', '.join(stage.classes)}")
    return stage


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).splitlines()[0]
