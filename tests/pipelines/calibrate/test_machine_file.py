"""The file of a machine gives back what was written to it; what is no such file is refused by name."""

import json
from pathlib import Path

import pytest

from poolpilot.errors import SettingError
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.pipelines.calibrate.machine_file import read_machine, write_machine


def test_machine_file_gives_back_the_machine(tmp_path: Path) -> None:
    machine = CALIBRATED.model_copy(update={"overhead_us": 150.0})
    write_machine(tmp_path / "machine.json", machine)
    assert read_machine(tmp_path / "machine.json") == machine


@pytest.mark.parametrize(
    ("text", "refusal"),
    [("{", "refused"), (json.dumps({"wake_us": -1.0}), "wake_us"), (json.dumps({"speed": 2}), "speed")],
)
def test_bad_machine_file_is_refused_by_field(tmp_path: Path, text: str, refusal: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(SettingError, match=refusal):
        read_machine(path)


def test_files_that_cannot_be_read_or_written_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot read the machine"):
        read_machine(tmp_path / "none.json")
    with pytest.raises(SettingError, match="cannot write "):
        write_machine(tmp_path / "nowhere" / "machine.json", CALIBRATED)


def test_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(CALIBRATED.model_dump_json(), encoding="utf-16")
    with pytest.raises(SettingError, match=r"cannot read the machine .*machine\.json: it is no text in UTF-8"):
        read_machine(path)
