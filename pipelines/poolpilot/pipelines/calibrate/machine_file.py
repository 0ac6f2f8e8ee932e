"""The file that calibration writes a machine to."""

from pathlib import Path

from pydantic import ValidationError

from poolpilot.env.output import write_file
from poolpilot.errors import SettingError
from poolpilot.native_pool.simulation import Machine


def read_machine(path: Path) -> Machine:
    """A machine as calibration writes it.

    Raises:
        SettingError: The file is missing or no text, or a field of the machine is unknown or outside its range.
    """
    try:
        return Machine.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"cannot read the machine {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingError(f"cannot read the machine {path}: it is no text in UTF-8") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise SettingError(f"the machine {path} is refused: {place}: {first['msg']}") from error


def write_machine(path: Path, machine: Machine) -> None:
    """Writes a machine.

    Raises:
        SettingError: The file cannot be written.
    """
    write_file(path, machine.model_dump_json(indent=2) + "\n")
