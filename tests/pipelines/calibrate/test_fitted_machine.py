"""A machine that was fitted is begun with where all that it was fitted on still holds; else it is said what differs."""

from pathlib import Path
from typing import Any

import pytest

from poolpilot.errors import StoreError
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.pipelines.calibrate import fitted_machine
from poolpilot.pipelines.calibrate.fitted_machine import NAME, FittedMachine, FittedOn, machine_to_begin_with

FITTED = CALIBRATED.model_copy(update={"overhead_us": 77.0})
HERE = FittedOn.here(2)


def begun_with(folder: Path, here: FittedOn = HERE) -> tuple[Machine, str]:
    """The machine, and what is said of it."""
    machine, said = machine_to_begin_with(folder, here)
    return machine, said or ""


def test_without_an_earlier_run_it_is_what_ships_and_nothing_is_said(tmp_path: Path) -> None:
    assert machine_to_begin_with(tmp_path, HERE) == (CALIBRATED, None)


def test_on_the_same_host_it_is_the_one_that_was_fitted(tmp_path: Path) -> None:
    for overhead_us in (50.0, 77.0):  # the later one counts
        machine = CALIBRATED.model_copy(update={"overhead_us": overhead_us})
        FittedMachine(machine=machine, fitted_on=HERE).keep(tmp_path)
    machine, said = begun_with(tmp_path, FittedOn.here(2))
    assert machine == FITTED
    assert "an earlier run has fitted to this host" in said


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"host": "elsewhere"}, "host"),
        ({"kernel": "0.1", "processor": "abacus"}, "kernel, processor"),
        ({"usable_cpus": 4096}, "usable cpus"),
        ({"cpus": 3}, "cpus"),
        ({"shipped": FITTED}, "shipped"),
    ],
)
def test_where_anything_differs_it_is_what_ships(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    FittedMachine(machine=FITTED, fitted_on=HERE.model_copy(update=changed)).keep(tmp_path)
    machine, said = begun_with(tmp_path)
    assert machine == CALIBRATED
    assert said.endswith(f"which differs in {named}.")


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"machine": {"speed": 2}}'])
def test_file_that_cannot_be_read_ends_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    machine, said = begun_with(tmp_path)
    assert machine == CALIBRATED
    assert f"{tmp_path / NAME} cannot be read (" in said
    assert "\n" not in said


def test_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write the fitted machine .*: Not a directory; name another folder"):
        FittedMachine(machine=FITTED, fitted_on=HERE).keep(tmp_path / "file")


def test_processors_are_called_as_the_kernel_calls_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "cpuinfo"
    monkeypatch.setattr(fitted_machine, "PROCESSORS", told)
    without = FittedOn.here(2).processor
    told.write_text("processor\t: 0\nmodel name\t: Abacus 3\nmodel name\t: Abacus 4\n", encoding="utf-8")
    assert (FittedOn.here(2).processor, bool(without)) == ("Abacus 3", True)
