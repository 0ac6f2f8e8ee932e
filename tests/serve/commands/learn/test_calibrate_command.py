"""`learn calibrate` as a user meets it: what cannot be written is refused first, what was fitted is not lost."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from poolpilot.errors import ServerError
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.pipelines import logged_run as logged_run_module
from poolpilot.pipelines.calibrate import calibrate as calibration_module
from poolpilot.pipelines.calibrate.machine_file import read_machine
from poolpilot.pipelines.logged_run import LoggedRun
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

Invoke = Callable[..., Any]
FITTED = CALIBRATED.model_copy(update={"overhead_us": 150.0})


@pytest.mark.parametrize("option", ["--output", "--json"])
def test_file_that_cannot_be_written_is_refused_before_anything_is_fitted(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(calibration_module, "calibrate", lambda *_: pytest.fail("it was fitted"))
    for path, says in ((tmp_path / "nowhere" / "file", "there is no such folder"), (tmp_path, "it is a folder")):
        result = invoke("learn", "calibrate", option, path)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert says in result.err


@pytest.mark.parametrize(("failure", "code"), [(KeyboardInterrupt(), INTERRUPTED), (ServerError("it stands"), 1)])
def test_machine_is_written_whatever_becomes_of_its_evaluation(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int
) -> None:
    def failing(_: object, __: object, keep: Callable[[Machine], None]) -> None:
        keep(FITTED)
        raise failure

    monkeypatch.setattr(calibration_module, "calibrate", failing)
    result = invoke("learn", "calibrate", "--output", tmp_path / "machine.json")
    assert result.code == code
    assert f"the machine is in {tmp_path / 'machine.json'}" in result.out
    assert read_machine(tmp_path / "machine.json") == FITTED


def test_one_that_was_interrupted_is_logged_as_killed(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = LoggedRun()
    stopped = SimpleNamespace(stopped=True, as_dict=dict, table=lambda: "as far as it came")
    monkeypatch.setattr(calibration_module, "calibrate", lambda *_: stopped)
    monkeypatch.setattr(logged_run_module, "logged_run", lambda *_: nullcontext(logged))
    assert invoke("learn", "calibrate", "--output", tmp_path / "machine.json").code == INTERRUPTED
    assert logged.ending == "KILLED"
