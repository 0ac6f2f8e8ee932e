"""How the commands are told of a MariaDB server: a DSN, a defaults file, the way in, or the folder of a test server."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from poolpilot.env.knobs import MOST_CPUS, checked_cpus
from poolpilot.env.program_settings import ProgramSettings, checked_by
from poolpilot.mariadb.actuator import checked_procedure


def _in_range(cpus: int | None) -> int | None:
    return None if cpus is None else checked_cpus(cpus)


ProcedureName = Annotated[str, AfterValidator(checked_by(checked_procedure))]
"""Schema and name of the procedure that sets a configuration."""

Cpus = Annotated[
    int | None,
    AfterValidator(checked_by(_in_range)),
    Field(
        description="Processors of the server, where it runs on another host or in a container: "
        f"1..{MOST_CPUS}. Of one that runs here they are read."
    ),
]
"""Processors of a server that is named by a DSN; None where nobody names them."""

MinRowsShare = Annotated[
    float,
    Field(
        ge=0.0,
        le=1.0,
        description="Share of the rows read a second that long statements must keep.",
    ),
]
"""What is left to long statements of a server that shows no classes; see `Objective.min_rows_share`."""


class MariadbOptions(ProgramSettings):
    """Which server a command looks at."""

    dsn: str = Field(
        description="Where the server is: S=/run/mysqld/mysqld.sock, h=db1,P=3306,u=poolpilot, or a host name. E= "
        "names the extra port, F= a defaults file. Passwords come from the defaults file alone."
    )
    defaults_file: Path | None = Field(
        default=None,
        description="The one option file to read, instead of those that `mariadb` reads.",
    )


class StagingOptions(MariadbOptions):
    """Which server a command sets, and whether it may."""

    procedure: ProcedureName | None = Field(
        default=None,
        description="Set by calling this procedure (`poolpilot grants`) instead of SET GLOBAL.",
    )
    execute: bool = Field(
        default=False,
        description="Do it; without this the server is left alone.",
    )


class LabOptions(ProgramSettings):
    """Which test server a command is about."""

    folder: Path = Field(default=Path("lab/small"), description="Folder of the test server.")
