"""The machine as a model is the simulator's own machine."""

from typing import get_args

import pytest
from pydantic import ValidationError

from poolpilot.native_pool._core import SimulatedMachine
from poolpilot.native_pool.simulation import CALIBRATED, Machine

ROWS = {row["name"]: row for row in SimulatedMachine.fields() if row["name"] != "cpus"}


def test_model_has_every_field_of_the_machine_with_its_default() -> None:
    assert Machine().model_dump() == {name: ROWS[name]["default"] for name in Machine.model_fields}
    assert Machine.model_fields.keys() == ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_field_has_the_type_range_and_meaning_of_the_native_one(name: str) -> None:
    row, field = ROWS[name], Machine.model_fields[name]
    assert field.description == f"{row['effect']} ({row['unit']})"
    if "names" in row:
        assert list(get_args(field.annotation)) == row["names"]
        return
    assert field.annotation is type(row["default"])
    if isinstance(row["default"], bool):
        return
    for end in (row["low"], row["high"]):
        SimulatedMachine(**{name: getattr(Machine.model_validate({name: end}), name)})
    for beyond in (row["low"] - 1, row["high"] + 1):
        with pytest.raises(ValidationError, match=name):
            Machine.model_validate({name: beyond})


def test_calibrated_machine_is_one_the_simulator_takes() -> None:
    SimulatedMachine(**CALIBRATED.model_dump())
